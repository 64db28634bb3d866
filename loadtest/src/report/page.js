for (const svg of document.querySelectorAll("svg[data-places]")) {
  const places = svg.dataset.places.split(" ").map(Number), texts = svg.dataset.texts.split("\n");
  const cross = svg.querySelector(".cross"), output = svg.parentNode.querySelector("output");
  const show = (visible) => { cross.style.visibility = output.style.visibility = visible ? "visible" : "hidden"; };
  svg.addEventListener("pointerleave", () => show(false));
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    const x = (event.clientX - box.left) * view.width / box.width;
    let best = 0;
    places.forEach((place, i) => { if (Math.abs(place - x) < Math.abs(places[best] - x)) best = i; });
    if (!texts[best]) return;
    const at = places[best];
    for (const [name, value] of [["x1", at], ["x2", at], ["y1", 14], ["y2", view.height - 46]]) cross.setAttribute(name, value);
    output.textContent = texts[best];
    const left = at * box.width / view.width;
    output.style.left = Math.min(Math.max(0, left - output.offsetWidth / 2), box.width - output.offsetWidth) + "px";
    show(true);
  });
}
// How many charts were drawn, for tests that open the page.
const drawn = [...document.querySelectorAll(".chart svg")].filter((svg) => svg.getBoundingClientRect().height > 100);
document.body.dataset.charts = drawn.length;
