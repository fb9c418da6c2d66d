// The graph of calls: a box for each, with its fused ops as rows, and edges by dependency.
"use strict";
const graphBox = document.getElementById("graph-plot");
const boxWidth = 190, rowHeight = 17, headHeight = 26, maximumRows = 8;
const rowsOf = step => step.rows.length <= maximumRows ? step.rows : [...step.rows.slice(0, maximumRows - 1), `${step.rows.length - maximumRows + 1} more`];
const boxHeight = step => headHeight + 8 + rowHeight * rowsOf(step).length;

// dagre takes seconds for thousands of boxes. Then a box's column is the longest path to it.
const layeredLimit = 600;
const placed = steps => {
  if (steps.length <= layeredLimit) {
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: "LR", nodesep: 22, ranksep: 46, marginx: 20, marginy: 20 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const step of steps) graph.setNode(String(step.number), { width: boxWidth, height: boxHeight(step) });
    for (const step of steps) for (const other of step.after) graph.setEdge(String(other), String(step.number));
    dagre.layout(graph);
    return steps.map(step => graph.node(String(step.number)));
  }
  const columns = [], bottoms = [];
  return steps.map((step, number) => {
    const column = d3.max(step.after, other => columns[other] + 1) ?? 0, height = boxHeight(step);
    columns[number] = column;
    const top = bottoms[column] ?? 20;
    bottoms[column] = top + height + 22;
    return { x: 20 + boxWidth / 2 + column * (boxWidth + 46), y: top + height / 2 };
  });
};

const drawGraph = () => {
  const steps = data.steps, places = placed(steps), most = d3.max(steps, time) || 1;
  const right = d3.max(places, place => place.x) + boxWidth, bottom = d3.max(steps, (step, number) => places[number].y + boxHeight(step) / 2) + 20;
  // A chain needs less height.
  graphBox.style.height = `${Math.min(graphBox.clientHeight, Math.max(220, bottom + 40))}px`;
  const width = graphBox.clientWidth, height = graphBox.clientHeight;
  const svg = d3.select(graphBox).append("svg").attr("width", "100%").attr("height", "100%").attr("role", "group").attr("aria-label", "graph of the calls; the table of calls has the same figures");
  const scene = svg.append("g");
  const link = d3.linkHorizontal();
  const edges = steps.flatMap((step, number) => step.after.map(other => ({
    source: [places[other].x + boxWidth / 2, places[other].y], target: [places[number].x - boxWidth / 2, places[number].y],
  })));
  scene.append("g").selectAll("path").data(edges).join("path").attr("class", "edge").attr("d", link);
  scene.append("g").selectAll("path").data(edges).join("path").attr("class", "arrow").attr("d", edge => `M${edge.target}l-8,-4v8z`);
  const boxes = scene.append("g").selectAll("g").data(steps).join("g")
    .attr("class", step => `box op-${step.op}`).attr("data-call", step => step.number)
    .classed("selected", step => step.number === selected.number)
    .attr("transform", (step, number) => `translate(${places[number].x - boxWidth / 2},${places[number].y - boxHeight(step) / 2})`)
    .on("click", (_, step) => select(step.number)).call(withTip);
  boxes.append("rect").attr("class", "frame").attr("width", boxWidth).attr("height", boxHeight).attr("rx", 7)
    .style("--heat", step => `${total ? 70 * time(step) / most : 0}%`);
  boxes.append("rect").attr("class", "stripe").attr("width", 5).attr("height", step => boxHeight(step) - 12).attr("x", 5).attr("y", 6).attr("rx", 2.5);
  boxes.append("text").attr("class", "name").attr("x", 17).attr("y", 18).text(step => fitted(`${step.number} ${step.name}`, boxWidth - (total ? 70 : 26), "600 12px system-ui, sans-serif"));
  if (total) boxes.append("text").attr("class", "share").attr("x", boxWidth - 8).attr("y", 18).attr("text-anchor", "end").text(step => percent(time(step) / total));
  boxes.selectAll("text.row").data(step => rowsOf(step)).join("text").attr("class", "row").attr("x", 17)
    .attr("y", (_, row) => headHeight + 12 + row * rowHeight).text(row => fitted(row, boxWidth - 26, "12px system-ui, sans-serif"));
  const zoom = d3.zoom().scaleExtent([0.03, 3]).on("zoom", event => scene.attr("transform", event.transform));
  svg.call(zoom).on("dblclick.zoom", null);
  const fit = (least, follow) => {
    const scale = Math.max(least, Math.min(1, width / right, height / bottom));
    const x = Math.max(0, (width - right * scale) / 2);
    (follow ? svg.transition().duration(250) : svg).call(zoom.transform, d3.zoomIdentity.translate(x, (height - bottom * scale) / 2).scale(scale));
  };
  d3.select("#graph-fit").on("click", () => fit(0.03, true));
  d3.select("#graph-in").on("click", () => svg.transition().duration(150).call(zoom.scaleBy, 1.5));
  d3.select("#graph-out").on("click", () => svg.transition().duration(150).call(zoom.scaleBy, 1 / 1.5));
  // Moves a selected box into view.
  const watch = number => {
    const transform = d3.zoomTransform(svg.node()), [x, y] = transform.apply([places[number].x, places[number].y]);
    if (x < 0 || y < 0 || x > width || y > height) svg.transition().duration(250).call(zoom.translateTo, places[number].x, places[number].y);
  };
  selected.watchers.push(watch);
  fit(0.8, false);
  if (selected.number !== null) watch(selected.number);
};
if (graphBox && data.steps.length) {
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    drawGraph();
  }, { rootMargin: "200px" });
  observer.observe(graphBox);
}
