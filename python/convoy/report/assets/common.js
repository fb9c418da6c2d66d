// The data, the selected call, and the formats that all parts of the page use.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const time = step => Math.max(0, step.inPlace ?? step.alone ?? 0);
const total = d3.sum(data.steps, time);
const percent = d3.format(".1%");
const prefix = (value, unit) => value == null ? "-" : d3.format(".3~s")(value).replace(/([kMGTPmun\u00b5])?$/, " $1") + unit;
const micro = value => value == null ? "-" : `${value.toFixed(value < 100 ? 2 : 1)} us`;

// Cuts a text to a width in pixels. A canvas measures it, which needs no layout of the page.
const pen = document.createElement("canvas").getContext("2d");
const fitted = (text, width, font) => {
  pen.font = font;
  if (pen.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "\u2026").width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? text.slice(0, low) + "\u2026" : "";
};

const summary = step => [
  `${step.number}  ${step.name}`,
  step.rows.join(" + "),
  step.alone == null ? "" : `${micro(step.alone)} alone` + (step.inPlace == null ? "" : `, ${micro(step.inPlace)} in place`) + (total ? `, ${percent(time(step) / total)} of the time` : ""),
  step.share == null ? "" : `${percent(step.share)} of the roofline, limited by ${step.bound}`,
  step.live == null ? "" : `${prefix(step.live, "B")} of temporaries live`,
  `${prefix(step.bytes, "B")} moved` + (step.flops ? `, ${prefix(step.flops, "FLOP")} in ${step.rate}` : ""),
  step.location,
].filter(Boolean).join("\n");

// The tooltip of the plots.
const tip = d3.select("body").append("div").attr("id", "tip").attr("aria-hidden", "true");
const showTip = (event, step) => {
  tip.text(summary(step)).classed("shown", true);
  const box = tip.node().getBoundingClientRect(), gap = 14;
  const left = Math.min(event.clientX + gap, innerWidth - box.width - 8);
  const top = event.clientY + gap + box.height > innerHeight ? event.clientY - gap - box.height : event.clientY + gap;
  tip.style("left", `${Math.max(8, left)}px`).style("top", `${Math.max(8, top)}px`);
};
const hideTip = () => tip.classed("shown", false);
const withTip = selection => selection.on("mousemove", showTip).on("mouseleave", hideTip);

// Scrolls a box, but not the page, so that what was clicked stays in view.
const reveal = element => {
  const box = element && element.closest(".scroll");
  if (!box) return;
  const place = element.getBoundingClientRect(), frame = box.getBoundingClientRect();
  box.scrollTop += place.top - frame.top - (frame.height - place.height) / 2;
};

// Selects a call in every part of the page.
const selected = { number: null, watchers: [] };
const select = number => {
  selected.number = number;
  document.querySelectorAll(".selected").forEach(each => each.classList.remove("selected"));
  document.querySelectorAll(`[data-call="${number}"]`).forEach(each => each.classList.add("selected"));
  const step = data.steps[number], row = document.getElementById(`call-${number}`);
  row.hidden = false;
  row.classList.add("selected");
  reveal(row);
  const line = step.place && document.getElementById(step.place);
  if (line) {
    line.classList.add("selected");
    reveal(line);
  }
  const details = d3.select("#details").classed("shown", true);
  details.selectAll("*").remove();
  const parts = summary(step).split("\n");
  details.append("strong").attr("class", `op-${step.op}`).text(parts[0]);
  details.append("span").text(parts.slice(1).join(" \u00b7 "));
  const links = details.append("nav");
  links.append("a").attr("href", `#call-${number}`).text("table row");
  if (step.place) links.append("a").attr("href", `#${step.place}`).text("source line");
  for (const watcher of selected.watchers) watcher(number);
};
