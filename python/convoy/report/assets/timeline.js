// The timeline: the wheel zooms, dragging pans, and labels are cut to their bars.
"use strict";
const timelineBox = document.querySelector(".timeline");
const bars = [...document.querySelectorAll(".timeline a[data-call]")];
if (timelineBox) {
  const drawing = timelineBox.querySelector("svg.all"), range = document.getElementById("zoom");
  const labels = () => {
    // All widths are read before a text changes, so the page is laid out once.
    const widths = bars.map(bar => bar.querySelector(".whole").getBoundingClientRect().width);
    bars.forEach((bar, place) => {
      const step = data.steps[Number(bar.dataset.call)];
      bar.querySelector("text").textContent = fitted(`${step.number} ${step.name}`, widths[place] - 10, "12px system-ui, sans-serif");
    });
  };
  const zoomTo = (value, center) => {
    const old = Number(range.value), place = (timelineBox.scrollLeft + center) / old;
    range.value = Math.min(Number(range.max), Math.max(1, value));
    drawing.style.setProperty("--zoom", range.value);
    timelineBox.scrollLeft = place * Number(range.value) - center;
    labels();
  };
  let shown = 1;
  range.addEventListener("input", () => { const value = Number(range.value); range.value = shown; zoomTo(value, timelineBox.clientWidth / 2); shown = Number(range.value); });
  timelineBox.addEventListener("wheel", event => {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    zoomTo(Number(range.value) * 2 ** (-event.deltaY / 300), event.clientX - timelineBox.getBoundingClientRect().left);
    shown = Number(range.value);
  }, { passive: false });
  let from = null, moved = false;
  timelineBox.addEventListener("pointerdown", event => { from = [event.clientX, timelineBox.scrollLeft]; moved = false; });
  addEventListener("pointermove", event => {
    if (from === null) return;
    if (Math.abs(event.clientX - from[0]) > 4) moved = true;
    timelineBox.scrollLeft = from[1] - (event.clientX - from[0]);
  });
  addEventListener("pointerup", () => { from = null; });
  for (const bar of bars) {
    const step = data.steps[Number(bar.dataset.call)];
    bar.addEventListener("dragstart", event => event.preventDefault());
    bar.addEventListener("mousemove", event => showTip(event, step));
    bar.addEventListener("mouseleave", hideTip);
    bar.addEventListener("focus", () => { if (bar.matches(":focus-visible")) select(step.number); });
    // The Enter key follows the link to the row.
    bar.addEventListener("click", event => {
      if (event.detail) event.preventDefault();
      if (!moved || !event.detail) select(step.number);
    });
  }
  addEventListener("resize", labels);
  labels();
}
