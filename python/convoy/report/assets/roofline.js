// The roofline: FLOP per byte against FLOP/s of each measured call.
"use strict";
const roofline = () => {
  const box = document.getElementById("roofline-plot");
  if (!box) return;
  const width = Math.max(560, box.clientWidth), height = 420;
  const margin = { top: 18, right: 24, bottom: 46, left: 76 };
  const dots = data.steps.filter(step => step.alone > 0);
  const products = dots.filter(step => step.flops > 0);
  const intensity = step => step.flops / step.bytes;
  const rates = data.gpu ? [...new Set(products.map(step => step.rate))].filter(rate => data.gpu.flops[rate]) : [];
  const ridges = rates.map(rate => data.gpu.flops[rate] / data.gpu.copy);
  const [low, high] = d3.extent([...products.map(intensity), ...ridges, 1]);
  // Calls without products are at the left edge, as far below the copy roof as their bytes per
  // second are below the copy speed.
  const left = low / 4, right = high * 4;
  const at = step => step.flops > 0 ? intensity(step) : left * 1.5;
  const speed = step => (step.flops > 0 ? step.flops : left * 1.5 * step.bytes) / step.alone * 1e6;
  const top = d3.max([...rates.map(rate => data.gpu.flops[rate]), ...dots.map(speed)]) * 3;
  const bottom = d3.min(dots, speed) / 3;
  const x = d3.scaleLog([left, right], [margin.left, width - margin.right]);
  const y = d3.scaleLog([bottom, top], [height - margin.bottom, margin.top]);
  const area = d3.scaleSqrt([0, d3.max(dots, time)], [3, Math.min(18, Math.max(6, 80 / Math.sqrt(dots.length)))]);
  const svg = d3.select(box).html("").append("svg").attr("viewBox", [0, 0, width, height]).attr("role", "group").attr("aria-label", "roofline of the calls");
  const powers = scale => d3.range(Math.ceil(Math.log10(scale.domain()[0])), Math.floor(Math.log10(scale.domain()[1])) + 1).map(power => 10 ** power);
  const axis = (call, shift) => svg.append("g").attr("class", "axis").attr("transform", shift).call(call);
  axis(d3.axisBottom(x).tickValues(powers(x)).tickFormat(value => prefix(value, "")).tickSize(-(height - margin.top - margin.bottom)), `translate(0,${height - margin.bottom})`);
  axis(d3.axisLeft(y).tickValues(powers(y)).tickFormat(value => prefix(value, "")).tickSize(-(width - margin.left - margin.right)), `translate(${margin.left},0)`);
  svg.append("text").attr("class", "title").attr("x", width - margin.right).attr("y", height - 8).attr("text-anchor", "end").text("FLOP per byte");
  svg.append("text").attr("class", "title").attr("transform", `translate(16,${margin.top}) rotate(-90)`).attr("text-anchor", "end").text("FLOP per second");
  if (data.gpu) {
    const line = (x1, y1, x2, y2) => svg.append("line").attr("class", "roof").attr("x1", x(x1)).attr("y1", y(y1)).attr("x2", x(x2)).attr("y2", y(y2));
    const ridge = Math.min(right, d3.max(ridges) ?? right, top / data.gpu.copy), start = Math.max(left, bottom / data.gpu.copy);
    line(start, start * data.gpu.copy, ridge, ridge * data.gpu.copy);
    const angle = Math.atan2(y(ridge * data.gpu.copy) - y(start * data.gpu.copy), x(ridge) - x(start)) * 180 / Math.PI;
    const middle = Math.sqrt(start * ridge);
    svg.append("text").attr("class", "roof").attr("transform", `translate(${x(middle)},${y(middle * data.gpu.copy) - 7}) rotate(${angle})`).attr("text-anchor", "middle").text(`copy speed ${prefix(data.gpu.copy, "B/s")}`);
    for (const rate of rates) {
      const peak = data.gpu.flops[rate];
      line(peak / data.gpu.copy, peak, right, peak);
      svg.append("text").attr("class", "roof").attr("x", width - margin.right).attr("y", y(peak) - 6).attr("text-anchor", "end").text(`${rate} ${prefix(peak, "FLOP/s")}`);
    }
  }
  svg.append("g").selectAll("circle").data(d3.sort(dots, step => -time(step))).join("circle")
    .attr("class", step => `dot op-${step.op}`).attr("data-call", step => step.number)
    .classed("selected", step => step.number === selected.number)
    .attr("cx", step => x(at(step))).attr("cy", step => y(speed(step))).attr("r", step => area(time(step)))
    .on("click", (_, step) => select(step.number)).call(withTip);
};
roofline();
addEventListener("resize", roofline);
