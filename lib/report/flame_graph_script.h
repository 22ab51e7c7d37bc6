// SPDX-License-Identifier: Apache-2.0
// What makes a flame graph's SVG move: its style and its script, the same for every graph.
//
// Nothing of a recording stands in here. Names reach the script as the text of <title> elements and leave it
// as text again (textContent), so no name can become markup or code.
#ifndef KSAMP_LIB_REPORT_FLAME_GRAPH_SCRIPT_H_
#define KSAMP_LIB_REPORT_FLAME_GRAPH_SCRIPT_H_

#include <string_view>

namespace ksamp {

inline constexpr std::string_view kFlameGraphStyle = R"css(
svg { background: #fdfdfb; }
text { font: 12px monospace; fill: #111; pointer-events: none; }
.ground { fill: #fdfdfb; opacity: 0.93; }
.page { fill: #222; }
.title { font-size: 16px; }
.quiet { fill: #666; }
.button { fill: #1558b0; pointer-events: all; cursor: pointer; }
#frames g { cursor: pointer; }
#frames rect { stroke: #fdfdfb; stroke-width: 0.4; }
#frames g:hover rect, #frames g:focus rect { stroke: #000; stroke-width: 1; }
#frames g { outline: none; }
#frames g.above rect { opacity: 0.55; }
#frames g.hit rect { fill: #e040fb; }
#frames g.gone { display: none; }
input { font: 12px monospace; width: 100%; box-sizing: border-box; }
@media (prefers-color-scheme: dark) {
  svg { background: #1d1f21; }
  .ground { fill: #1d1f21; }
  .page { fill: #ddd; }
  .quiet { fill: #999; }
  .button { fill: #8ab4f8; }
  #frames rect { stroke: #1d1f21; }
  #frames g:hover rect, #frames g:focus rect { stroke: #fff; }
}
)css";

// Each frame is <g data-s=START data-v=VALUE data-d=DEPTH> in order of a walk that meets callers first; START
// and VALUE are in what the graph counts, <svg data-whole=SUM data-roots=top|bottom>.
inline constexpr std::string_view kFlameGraphScript = R"js(
(function () {
  "use strict";
  var svg = document.getElementById("ksamp-flame-graph");
  var whole = Number(svg.getAttribute("data-whole"));
  var left = 10, width = 1180, letter = 7.23;
  var details = document.getElementById("details"), found = document.getElementById("found");
  var input = document.getElementById("search"), reset = document.getElementById("reset");
  var zoomed = -1, pattern = "";

  var frames = Array.prototype.map.call(document.getElementById("frames").children, function (group) {
    var title = group.querySelector("title").textContent, lines = title.split("\n");
    return {
      group: group, rect: group.querySelector("rect"), text: group.querySelector("text"), name: lines[0],
      told: lines.join("  "), start: Number(group.getAttribute("data-s")),
      value: Number(group.getAttribute("data-v")), depth: Number(group.getAttribute("data-d"))
    };
  });

  function place(frame, x, w) {
    frame.rect.setAttribute("x", x.toFixed(2));
    frame.rect.setAttribute("width", Math.max(w, 0.1).toFixed(2));
    frame.text.setAttribute("x", (x + 3).toFixed(2));
    var letters = Math.floor((w - 6) / letter);
    frame.text.textContent = letters < 3 ? "" :
        frame.name.length <= letters ? frame.name : frame.name.slice(0, letters - 1) + "\u2026";
  }

  function zoom(index) {
    var root = frames[index];
    var start = root ? root.start : 0, value = root ? root.value : whole, depth = root ? root.depth : 0;
    zoomed = root ? index : -1;
    frames.forEach(function (frame) {
      var above = root && frame.depth < depth && frame.start <= start &&
          frame.start + frame.value >= start + value;
      var inside = frame.start >= start && frame.start + frame.value <= start + value && frame.depth >= depth;
      frame.group.classList.toggle("above", Boolean(above));
      frame.group.classList.toggle("gone", !above && !inside);
      if (above) place(frame, left, width);
      if (inside) place(frame, left + (frame.start - start) / value * width, frame.value / value * width);
    });
    reset.classList.toggle("gone", zoomed < 0);
    reset.setAttribute("visibility", zoomed < 0 ? "hidden" : "visible");
  }

  function matcher(text) {
    try {
      var expression = new RegExp(text, "i");
      return function (name) { return expression.test(name); };
    } catch (error) {
      return function (name) { return name.indexOf(text) >= 0; };
    }
  }

  // Of frames below one that matches, nothing is added: their samples are in it.
  function search(text) {
    pattern = text;
    var matches = matcher(text), end = 0, sum = 0, count = 0;
    frames.forEach(function (frame) {
      var hit = text !== "" && matches(frame.name);
      frame.group.classList.toggle("hit", hit);
      if (!hit) return;
      ++count;
      if (frame.start < end) return;
      sum += frame.value;
      end = frame.start + frame.value;
    });
    found.textContent = text === "" ? "" :
        "found in " + (100 * sum / whole).toFixed(2) + " % (" + count + " frames)";
  }

  function remember() {
    var parts = [];
    if (zoomed >= 0) parts.push("zoom=" + zoomed);
    if (pattern !== "") parts.push("search=" + encodeURIComponent(pattern));
    var hash = parts.length ? "#" + parts.join("&") : "";
    if (hash !== location.hash) history.replaceState(null, "", hash || location.href.split("#")[0]);
  }

  function recall() {
    var state = { zoom: "-1", search: "" };
    location.hash.slice(1).split("&").forEach(function (part) {
      var at = part.indexOf("=");
      if (at <= 0) return;
      try {
        state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
      } catch (error) {
        return;
      }
    });
    input.value = state.search;
    search(state.search);
    zoom(/^\d+$/.test(state.zoom) ? Number(state.zoom) : -1);
  }

  function change(action) {
    action();
    remember();
  }

  // As wide as the window; the bar stays in sight.
  function fit() {
    var box = svg.viewBox.baseVal, scale = Math.max(window.innerWidth - 18, 600) / box.width;
    svg.setAttribute("width", Math.floor(box.width * scale));
    svg.setAttribute("height", Math.floor(box.height * scale));
    follow();
  }
  function follow() {
    var top = -svg.getBoundingClientRect().top * svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
    document.getElementById("bar").setAttribute("transform", "translate(0 " + Math.max(top, 0) + ")");
  }

  frames.forEach(function (frame, index) {
    frame.group.setAttribute("tabindex", "0");
    function show() { details.textContent = frame.told; }
    frame.group.addEventListener("mouseover", show);
    frame.group.addEventListener("focus", show);
    frame.group.addEventListener("click", function () { change(function () { zoom(index); }); });
    frame.group.addEventListener("keydown", function (event) {
      if (event.key === "Enter") change(function () { zoom(index); });
    });
  });
  reset.addEventListener("click", function () { change(function () { zoom(-1); }); });
  input.addEventListener("input", function () { change(function () { search(input.value); }); });
  window.addEventListener("hashchange", recall);
  window.addEventListener("resize", fit);
  window.addEventListener("scroll", follow);
  window.addEventListener("keydown", function (event) {
    if (event.key === "Escape") {
      input.value = "";
      change(function () { search(""); zoom(-1); });
      input.blur();
    } else if ((event.ctrlKey && event.key === "f") || (event.key === "/" && event.target !== input)) {
      event.preventDefault();
      input.focus();
    }
  });
  recall();
  fit();
  if (svg.getAttribute("data-roots") === "bottom") window.scrollTo(0, svg.getBoundingClientRect().height);
  follow();
})();
)js";

}  // namespace ksamp

#endif  // KSAMP_LIB_REPORT_FLAME_GRAPH_SCRIPT_H_
