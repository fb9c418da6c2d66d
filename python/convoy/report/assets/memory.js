// Memory over time: the bytes of live temporaries during each call.
"use strict";
const memoryPlot = () => {
  const box = document.getElementById("memory-plot");
  if (!box) return;
  const width = Math.max(560, box.clientWidth), height = 240;
  const margin = { top: 18, right: 24, bottom: 34, left: 76 };
  const steps = data.steps, arena = data.arena;
  const x = d3.scaleLinear([0, steps.length], [margin.left, width - margin.right]);
  const y = d3.scaleLinear([0, Math.max(1, arena, d3.max(steps, step => step.live)) * 1.08], [height - margin.bottom, margin.top]);
  const svg = d3.select(box).html("").append("svg").attr("viewBox", [0, 0, width, height]).attr("role", "group").attr("aria-label", "bytes of live temporaries during each call");
  const axis = (call, shift) => svg.append("g").attr("class", "axis").attr("transform", shift).call(call);
  axis(d3.axisBottom(x).ticks(Math.min(steps.length, 12)).tickFormat(d3.format("d")), `translate(0,${height - margin.bottom})`);
  axis(d3.axisLeft(y).ticks(5).tickFormat(value => prefix(value, "B")).tickSize(-(width - margin.left - margin.right)), `translate(${margin.left},0)`);
  svg.append("text").attr("class", "title").attr("x", width - margin.right).attr("y", height - 4).attr("text-anchor", "end").text("call");
  const each = x(1) - x(0), gap = each > 4 ? 1 : 0;
  svg.append("g").selectAll("rect").data(steps).join("rect")
    .attr("class", step => `bar op-${step.op}`).attr("data-call", step => step.number)
    .classed("selected", step => step.number === selected.number)
    .attr("x", step => x(step.number)).attr("width", each - gap)
    .attr("y", step => y(step.live)).attr("height", step => y(0) - y(step.live))
    .on("click", (_, step) => select(step.number)).call(withTip);
  svg.append("line").attr("class", "roof").attr("x1", x(0)).attr("x2", x(steps.length)).attr("y1", y(arena)).attr("y2", y(arena));
  svg.append("text").attr("class", "roof").attr("x", width - margin.right).attr("y", y(arena) - 5).attr("text-anchor", "end").text(`arena ${prefix(arena, "B")}`);
};
memoryPlot();
addEventListener("resize", memoryPlot);
