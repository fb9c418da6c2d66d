"""cuDNN's backend API: the library, descriptors, engine configurations and known errors."""
