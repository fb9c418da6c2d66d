"""Access to the CUDA driver: checked calls, devices, device memory and PTX compilation."""
