// The attention explorer of `heed see attention` and of the server's page:
//
//   const view = explorer(element, { chinese: false, onPlace: (text) => …, onCopy: () => … });
//   view.show(data, place);   // data of attention_data(); place as onPlace has given it
//
//   view.alignment();         // of a translator: [rows, columns] of its cross-attention, in one array
//
// It shows the weights of one layer and head at a time as a heat map and as lines between tokens.
"use strict";

const explorerWords = {
  en: {
    encoder: "Encoder", decoder: "Decoder", cross: "Cross-attention",
    layer: (n) => `layer ${n}`, head: (n) => `head ${n}`, all: "all layers", mean: "mean", meanOfHeads: "mean of heads", pick: "Layers (down) and heads (across)",
    query: { encoder: "Source tokens attend to …", decoder: "Generated tokens attend to …", cross: "Generated tokens attend to …" },
    key: { encoder: "… source tokens", decoder: "… earlier tokens", cross: "… source tokens" },
    hint: "Point at a token to see what it attends to; click to keep it selected.",
    attends: "attends to", attended: "is attended to by",
    legend: "shade: square root of the weight; framed: largest weight of a row; dashed: inside a word",
    larger: "Larger", smaller: "Smaller", fit: "Fit", copy: "Copy link", copied: "Copied",
    keys: "<kbd>←</kbd> <kbd>→</kbd> head &nbsp; <kbd>↑</kbd> <kbd>↓</kbd> layer &nbsp; <kbd>1</kbd>–<kbd>3</kbd> kind &nbsp; <kbd>+</kbd> <kbd>−</kbd> zoom &nbsp; <kbd>Tab</kbd> token &nbsp; <kbd>Esc</kbd> clear",
  },
  zh: {
    encoder: "编码器", decoder: "解码器", cross: "交叉注意力",
    layer: (n) => `第 ${n} 层`, head: (n) => `头 ${n}`, all: "所有层", mean: "平均", meanOfHeads: "各头平均", pick: "层（纵）与头（横）",
    query: { encoder: "读入的词元看向……", decoder: "正在写的词元看向……", cross: "正在写的词元看向……" },
    key: { encoder: "……这些词元", decoder: "……之前写出的词元", cross: "……读入的词元" },
    hint: "指向一个词元，看它注意哪里；点按可固定。",
    attends: "看向", attended: "被看，来自",
    legend: "深浅按权重的平方根；方框：该行最大者；虚线：词的后续部分",
    larger: "放大", smaller: "缩小", fit: "适合窗口", copy: "复制链接", copied: "已复制",
    keys: "<kbd>←</kbd> <kbd>→</kbd> 头 &nbsp; <kbd>↑</kbd> <kbd>↓</kbd> 层 &nbsp; <kbd>1</kbd>–<kbd>3</kbd> 种类 &nbsp; <kbd>+</kbd> <kbd>−</kbd> 缩放 &nbsp; <kbd>Tab</kbd> 词元 &nbsp; <kbd>Esc</kbd> 放开",
  },
};

// ---- weights --------------------------------------------------------------------------------------

const MEAN = -1;  // instead of a head
const ALL = -1;   // instead of a layer
const meanOf = (all) => all[0].map((_, i) => all.reduce((sum, one) => sum + one[i], 0) / all.length);

// 16 bits per weight, low byte first; 65535 means 1.
function unpack(text) {
  const bytes = atob(text), found = new Float32Array(bytes.length / 2);
  found.forEach((_, i) => { found[i] = (bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1)) / 65535; });
  return found;
}

// A layer becomes one array per head.
function unpackLayer(layer, size) {
  const all = unpack(layer.weights);
  const heads = Array.from({ length: layer.heads }, (_, h) => all.subarray(h * size, (h + 1) * size));
  return { heads, mean: meanOf(heads) };
}

// Tokens as people read them. Tokenizers mark the beginning of a word (▁, Ġ) or the part of a word
// that goes on (@@); here a part inside a word is `inside`.
function readable(pieces) {
  const marks = pieces.some((piece) => /^[▁Ġ]/.test(piece));
  let goesOn = false;
  return pieces.map((piece) => {
    const special = /^<.*>$|^…$|^\[.*\]$/.test(piece);
    const inside = !special && (marks ? !/^[▁Ġ]/.test(piece) : goesOn || /^##/.test(piece));
    goesOn = piece.endsWith("@@");
    const text = special ? piece : piece.replace(/^[▁Ġ]|^##|@@$/g, "").replace(/[▁Ġ]/g, " ");
    return { text: text === "" ? "␣" : text, inside };
  });
}

function unpackParts(parts) {
  return parts.map((part) => {
    const size = part.rows.length * part.columns.length;
    const layers = part.layers.map((layer) => unpackLayer(layer, size));
    const rows = readable(part.rows), columns = readable(part.columns);
    return {
      kind: part.kind, layers, rows: rows.map((t) => t.text), columns: columns.map((t) => t.text),
      inside: { query: rows.map((t) => t.inside), key: columns.map((t) => t.inside) },
      all: { heads: [], mean: meanOf(layers.map((layer) => layer.mean)) },
    };
  });
}

// ---- colors ---------------------------------------------------------------------------------------

const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const ramps = {
  light: [[255, 255, 255], [189, 215, 238], [66, 133, 196], [8, 40, 92]],
  dark: [[18, 22, 28], [28, 62, 110], [70, 140, 215], [228, 241, 255]],
};
function rgb(w) {
  const stops = darkScheme.matches ? ramps.dark : ramps.light;
  const x = Math.sqrt(Math.min(1, Math.max(0, w))) * 3, i = Math.min(2, Math.floor(x));
  return stops[i].map((low, k) => Math.round(low + (x - i) * (stops[i + 1][k] - low)));
}
const css = (w) => `rgb(${rgb(w).join()})`;
const inkOn = (w) => {
  const [r, g, b] = rgb(w);
  return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#10161f" : "#f4f7fb";
};
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const shown = (w) => (w >= 0.00005 ? w.toFixed(4) : "0");
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// ---- the explorer ---------------------------------------------------------------------------------

function explorer(root, options = {}) {
  const say = options.chinese ? explorerWords.zh : explorerWords.en;
  root.classList.add("explorer");
  root.innerHTML = `
    <div class="bar"><span class="kinds bar" role="group" style="margin:0"></span><span class="gap"></span>
      <button class="small smaller" aria-label="${say.smaller}">−</button><button class="small fit">${say.fit}</button>
      <button class="small larger" aria-label="${say.larger}">+</button>
      <button class="small svg">SVG</button><button class="small png">PNG</button><button class="small copy">${say.copy}</button></div>
    <div class="columns">
      <section><h3>${say.pick}</h3><div class="wide"><table class="picker"></table></div></section>
      <section class="map-side"><h3 class="map-title"></h3><div class="map-frame" tabindex="-1"><canvas class="map"></canvas></div>
        <div class="legend"><span>0</span><canvas width="144" height="1"></canvas><span>1</span><span>${say.legend}</span></div></section>
      <section><div class="flow"><svg class="lines" aria-hidden="true"></svg><h3 class="query-title"></h3>
        <div class="tokens query"></div><div class="tokens key"></div><h3 class="key-title"></h3></div>
        <p class="where" aria-live="polite"></p></section>
    </div>
    <div class="tip"></div><p class="keys">${say.keys}</p>`;
  const $ = (name) => root.querySelector(`.${name}`);

  let parts = [], alignment = null;
  const state = { part: 0, layer: ALL, head: MEAN, token: null, kept: false, zoom: 0 };  // token: {side, index}; zoom 0: fit
  const map = { cell: 20, left: 0, top: 0, size: 13, every: 1 };

  const part = () => parts[state.part];
  const layer = () => (state.layer === ALL ? part().all : part().layers[state.layer]);
  const layerName = (l) => (l === ALL ? say.all : say.layer(l + 1));
  const headName = (h) => (h === MEAN ? say.meanOfHeads : say.head(h + 1));
  const weights = () => (state.head === MEAN ? layer().mean : layer().heads[state.head]);
  const weight = (r, c) => weights()[r * part().columns.length + c];
  const title = () => `${say[part().kind]}, ${layerName(state.layer)}, ${headName(state.head)}`;

  // ---- the place: kind/layer/head/token/zoom, numbers from 1 ----

  function place() {
    const token = state.kept && state.token ? `${state.token.side[0]}${state.token.index + 1}` : "";
    return [part().kind, state.layer + 1, state.head + 1, token, state.zoom || ""].join("/").replace(/\/+$/, "");
  }

  function restore(text, start = {}) {
    const [kind, l, h, token, zoom] = (text || "").split("/");
    const wanted = kind || start.kind || (parts.some((p) => p.kind === "cross") ? "cross" : "");
    state.part = Math.max(0, parts.findIndex((p) => p.kind === wanted));
    const number = (digits, usual) => (/^\d+$/.test(digits ?? "") ? Number(digits) : usual ?? 0) - 1;
    state.layer = Math.min(part().layers.length - 1, number(l, start.layer));
    state.head = Math.min(layer().heads.length - 1, number(h, start.head));
    state.zoom = Math.min(60, Math.max(0, Number(zoom) || 0));
    const [, side, index] = /^([qk])(\d+)$/.exec(token ?? "") ?? [];
    const count = side === "q" ? part().rows.length : part().columns.length;
    state.kept = side !== undefined && Number(index) >= 1 && Number(index) <= count;
    state.token = state.kept ? { side: side === "q" ? "query" : "key", index: Number(index) - 1 } : null;
  }

  function go(change) {
    Object.assign(state, change);
    state.layer = Math.min(state.layer, part().layers.length - 1);
    state.head = Math.min(state.head, layer().heads.length - 1);
    if ("part" in change) { state.token = null; state.kept = false; }
    options.onPlace?.(place());
    draw("part" in change);
  }

  // ---- kinds and thumbnails ----

  function drawKinds() {
    $("kinds").replaceChildren(...parts.map((p, i) => {
      const button = document.createElement("button");
      button.textContent = say[p.kind];
      button.setAttribute("aria-pressed", String(i === state.part));
      button.onclick = () => go({ part: i });
      return button;
    }));
  }

  function paintThumb(canvas, values) {
    canvas.width = part().columns.length;
    canvas.height = part().rows.length;
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(canvas.width, canvas.height);
    values.forEach((w, i) => image.data.set([...rgb(w), 255], 4 * i));
    pen.putImageData(image, 0, 0);
  }

  function cell(tag, text, scope) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (scope) element.scope = scope;
    return element;
  }

  // Thumbnails are as large as lets all heads fit beside each other, from 20 to 44 pixels.
  function sizeThumbs() {
    const most = 1 + Math.max(...part().layers.map((l) => l.heads.length));
    const room = $("wide").clientWidth - 80;
    root.style.setProperty("--thumb", `${Math.max(20, Math.min(44, Math.floor(room / most) - 10))}px`);
  }

  function drawPicker() {
    const most = Math.max(...part().layers.map((l) => l.heads.length));
    const heads = [MEAN, ...Array(most).keys()];
    const top = document.createElement("tr");
    top.append(cell("td"), ...heads.map((h) => cell("th", h === MEAN ? say.mean : String(h + 1), "col")));
    const rows = [part().all, ...part().layers].map((l, i) => {
      const number = i - 1;  // ALL first
      const row = document.createElement("tr");
      row.append(cell("th", layerName(number), "row"));
      for (const h of heads) {
        const box = cell("td");
        row.append(box);
        if (h >= l.heads.length) continue;
        const button = document.createElement("button");
        button.className = "thumb";
        button.tabIndex = -1;  // the arrow keys do this instead
        button.setAttribute("aria-label", `${layerName(number)}, ${headName(h)}`);
        button.dataset.place = `${number}/${h}`;
        button.onclick = () => go({ layer: number, head: h });
        const canvas = document.createElement("canvas");
        paintThumb(canvas, h === MEAN ? l.mean : l.heads[h]);
        button.append(canvas);
        box.append(button);
      }
      return row;
    });
    $("picker").replaceChildren(top, ...rows);
    sizeThumbs();
  }

  function markThumb() {
    for (const thumb of root.querySelectorAll(".thumb")) {
      thumb.setAttribute("aria-pressed", String(thumb.dataset.place === `${state.layer}/${state.head}`));
    }
  }

  // ---- tokens and the lines between them ----

  function choose(side, index, keep) {
    if (state.kept && !keep) return;
    const same = state.token?.side === side && state.token?.index === index;
    state.kept = keep ? !(state.kept && same) : false;
    state.token = index === null || (keep && !state.kept && same) ? null : { side, index };
    if (keep) options.onPlace?.(place());
    drawFlow();
    drawMap();
  }

  function drawTokens() {
    for (const side of ["query", "key"]) {
      const labels = side === "query" ? part().rows : part().columns;
      $(side).replaceChildren(...labels.map((label, i) => {
        const token = document.createElement("button");
        token.className = part().inside[side][i] ? "token inside" : "token";
        token.textContent = label;
        token.onpointerenter = (e) => { if (e.pointerType === "mouse") choose(side, i, false); };
        token.onpointerleave = (e) => { if (e.pointerType === "mouse") choose(side, null, false); };
        token.onfocus = () => { if (token.matches(":focus-visible")) { state.kept = false; choose(side, i, false); } };
        token.onclick = () => choose(side, i, true);
        return token;
      }));
      $(`${side}-title`).textContent = say[side][part().kind];
    }
  }

  // The links of the chosen token: [row, column, weight]. All links of a long sentence would hide each other.
  function links() {
    const { rows, columns } = part(), all = [], chosen = state.token;
    if (!chosen && rows.length + columns.length > 100) return all;
    for (let r = 0; r < rows.length; ++r) {
      if (chosen?.side === "query" && chosen.index !== r) continue;
      for (let c = 0; c < columns.length; ++c) {
        if (chosen?.side === "key" && chosen.index !== c) continue;
        const w = weight(r, c);
        if (w >= (chosen ? 0.01 : 0.15)) all.push([r, c, w]);
      }
    }
    return all;
  }

  function drawFlow() {
    const chosen = state.token, sides = { query: [...$("query").children], key: [...$("key").children] };
    for (const side of ["query", "key"]) {
      sides[side].forEach((token, i) => {
        const answers = chosen && chosen.side !== side;
        const w = !answers ? 0 : side === "key" ? weight(chosen.index, i) : weight(i, chosen.index);
        token.classList.toggle("chosen", chosen?.side === side && chosen.index === i);
        token.style.background = answers ? css(w) : "";
        token.style.color = answers ? inkOn(w) : "";
        token.title = answers ? shown(w) : "";
      });
    }
    const frame = $("flow").getBoundingClientRect(), all = links();
    const place = (token, below) => {
      const box = token.getBoundingClientRect();
      return [box.left + box.width / 2 - frame.left, (below ? box.bottom : box.top) - frame.top];
    };
    $("lines").innerHTML = all.map(([r, c, w]) => {
      const [x1, y1] = place(sides.query[r], true), [x2, y2] = place(sides.key[c], false);
      const bend = (y2 - y1) / 2, faint = chosen ? 0.25 + 0.7 * w : 0.1 + 0.5 * w;
      return `<path d="M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}" fill="none"
        stroke="${style("--accent")}" stroke-width="${0.6 + 5 * w}" stroke-linecap="round" opacity="${faint}"/>`;
    }).join("");
    drawWhere(all);
  }

  function drawWhere(all) {
    const chosen = state.token;
    if (!chosen) { $("where").textContent = say.hint; return; }
    const query = chosen.side === "query", { rows, columns } = part();
    const best = [...all].sort((a, b) => b[2] - a[2]).slice(0, 5);
    const list = best.map(([r, c, w]) => `${query ? columns[c] : rows[r]} ${shown(w)}`).join("  ·  ");
    $("where").textContent = `${(query ? rows : columns)[chosen.index]} ${query ? say.attends : say.attended}: ${list || "–"}`;
  }

  // ---- the heat map ----

  function drawMap() {
    const { rows, columns } = part(), canvas = $("map"), pen = canvas.getContext("2d");
    const room = $("map-frame").clientWidth - 6, family = getComputedStyle(document.body).fontFamily;
    const widest = (labels, size) => {
      pen.font = `${size}px ${family}`;
      return Math.ceil(Math.max(...labels.map((label) => pen.measureText(label).width)));
    };
    const left = (s) => widest(rows, s) + 8;
    // Long sentences fit as a whole; enlarged, the map scrolls.
    map.cell = state.zoom || Math.max(3, Math.min(innerWidth > 1800 ? 48 : 34, Math.floor((room - left(12)) / columns.length)));
    map.size = Math.max(9, Math.min(14, Math.round(0.8 * map.cell)));
    map.every = Math.ceil((map.size + 1) / map.cell);  // labels that would overlap are left out
    map.left = left(map.size);
    map.top = widest(columns, map.size) + 8;
    const width = map.left + map.cell * columns.length + 1, height = map.top + map.cell * rows.length + 1;
    const dense = window.devicePixelRatio || 1;
    canvas.width = Math.ceil(width * dense);
    canvas.height = Math.ceil(height * dense);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    pen.scale(dense, dense);
    pen.font = `${map.size}px ${family}`;
    pen.textBaseline = "middle";
    drawCells(pen);
    drawLabels(pen);
    $("map-title").textContent = title();
  }

  function drawCells(pen) {
    const { rows, columns } = part(), chosen = state.token;
    rows.forEach((_, r) => {
      let most = 0;
      columns.forEach((__, c) => {
        const other = chosen && (chosen.side === "query" ? chosen.index !== r : chosen.index !== c);
        pen.globalAlpha = other ? 0.35 : 1;
        pen.fillStyle = css(weight(r, c));
        pen.fillRect(map.left + c * map.cell, map.top + r * map.cell, map.cell, map.cell);
        if (weight(r, c) > weight(r, most)) most = c;
      });
      if (map.cell < 8) return;
      pen.globalAlpha = chosen?.side === "query" && chosen.index !== r ? 0.35 : 1;
      pen.strokeStyle = style("--mark");
      pen.lineWidth = 1.25;
      pen.strokeRect(map.left + most * map.cell + 1, map.top + r * map.cell + 1, map.cell - 2, map.cell - 2);
    });
    pen.globalAlpha = 1;
    pen.strokeStyle = style("--line");
    pen.lineWidth = 1;
    pen.strokeRect(map.left + 0.5, map.top + 0.5, map.cell * columns.length, map.cell * rows.length);
  }

  function drawLabels(pen) {
    const { rows, columns } = part(), chosen = state.token;
    const isShown = (side, i) => i % map.every === 0 || (chosen?.side === side && chosen.index === i);
    const color = (side, i) => (chosen && (chosen.side !== side || chosen.index !== i) ? style("--soft") : style("--ink"));
    pen.textAlign = "right";
    rows.forEach((label, r) => {
      if (!isShown("query", r)) return;
      pen.fillStyle = color("query", r);
      pen.fillText(label, map.left - 5, map.top + (r + 0.5) * map.cell);
    });
    pen.textAlign = "left";
    columns.forEach((label, c) => {
      if (!isShown("key", c)) return;
      pen.save();
      pen.translate(map.left + (c + 0.5) * map.cell, map.top - 5);
      pen.rotate(-Math.PI / 2);
      pen.fillStyle = color("key", c);
      pen.fillText(label, 0, 0);
      pen.restore();
    });
  }

  // The map as a picture of vectors.
  function svgText() {
    const { rows, columns } = part(), { cell: size, left, top } = map;
    const width = left + size * columns.length + 1, height = top + size * rows.length + 1;
    const text = (x, y, label, more) => `<text x="${x}" y="${y}" dominant-baseline="central" ${more}>${escaped(label)}</text>`;
    const cells = rows.flatMap((_, r) => columns.map((__, c) =>
      `<rect x="${left + c * size}" y="${top + r * size}" width="${size}" height="${size}" fill="${css(weight(r, c))}"/>`));
    const some = (labels, draw) => labels.map(draw).filter((_, i) => i % map.every === 0);
    const names = some(rows, (label, r) => text(left - 5, top + (r + 0.5) * size, label, 'text-anchor="end"')).concat(
      some(columns, (label, c) => text(0, 0, label, `transform="translate(${left + (c + 0.5) * size} ${top - 5}) rotate(-90)"`)));
    const space = ["http", "//www.w3.org/2000/svg"].join(":");  // a name; nothing is fetched
    return `<svg xmlns="${space}" width="${width}" height="${height}" font-family="sans-serif" font-size="${map.size}" fill="${style("--ink")}">` +
      `<title>${escaped(title())}</title><rect width="100%" height="100%" fill="${style("--paper")}"/>${cells.join("")}${names.join("")}</svg>`;
  }

  // The row and column under the pointer: -1 on labels, null outside.
  function under(event) {
    const box = $("map").getBoundingClientRect();
    const at = (x, count) => { const i = Math.floor(x / map.cell); return i < count ? Math.max(-1, i) : null; };
    const r = at(event.clientY - box.top - map.top, part().rows.length);
    const c = at(event.clientX - box.left - map.left, part().columns.length);
    return r === null || c === null || (r < 0 && c < 0) ? null : { r, c };
  }

  function leaveMap() {
    $("tip").style.visibility = "hidden";
    choose("query", null, false);
  }
  function pointAtMap(event) {
    const at = under(event), tip = $("tip");
    if (!at) return leaveMap();
    if (event.pointerType === "mouse" || event.type === "click") {
      choose(at.r < 0 ? "key" : "query", at.r < 0 ? at.c : at.r, event.type === "click");
    }
    tip.style.visibility = at.r >= 0 && at.c >= 0 ? "visible" : "hidden";
    if (at.r < 0 || at.c < 0) return;
    tip.textContent = `${part().rows[at.r]} → ${part().columns[at.c]}   ${shown(weight(at.r, at.c))}`;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY < 60 ? event.clientY + 22 : event.clientY - 38}px`;
  }

  // ---- all together ----

  function draw(all) {
    if (all) {
      drawKinds();
      drawPicker();
      drawTokens();
      const legend = root.querySelector(".legend canvas").getContext("2d");
      for (let x = 0; x < 144; ++x) { legend.fillStyle = css((x / 143) ** 2); legend.fillRect(x, 0, 1, 1); }
    }
    markThumb();
    drawMap();
    drawFlow();
  }
  const redraw = (all) => { if (parts.length > 0 && root.offsetWidth > 0) draw(all); };
  const zoomBy = (factor) => go({ zoom: Math.max(3, Math.min(60, Math.round(map.cell * factor + Math.sign(factor - 1)))) });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || parts.length === 0 || root.offsetWidth === 0) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    const heads = layer().heads.length, layers = part().layers.length;
    const moves = {
      ArrowRight: () => go({ head: state.head + 1 < heads ? state.head + 1 : MEAN }),
      ArrowLeft: () => go({ head: state.head > MEAN ? state.head - 1 : heads - 1 }),
      ArrowDown: () => go({ layer: state.layer + 1 < layers ? state.layer + 1 : ALL }),
      ArrowUp: () => go({ layer: state.layer > ALL ? state.layer - 1 : layers - 1 }),
      "+": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => go({ zoom: 0 }),
      Escape: () => { state.kept = false; choose("query", null, false); document.activeElement?.blur(); },
    };
    const kind = Number(event.key) - 1;
    const move = moves[event.key] ?? (kind >= 0 && kind < parts.length ? () => go({ part: kind }) : null);
    if (move) { event.preventDefault(); move(); }
  });
  $("map").addEventListener("pointermove", pointAtMap);
  $("map").addEventListener("click", pointAtMap);
  $("map").addEventListener("pointerleave", leaveMap);
  $("larger").onclick = () => zoomBy(1.25);
  $("smaller").onclick = () => zoomBy(0.8);
  $("fit").onclick = () => go({ zoom: 0 });
  $("svg").onclick = () => download("attention.svg", new Blob([svgText()], { type: "image/svg+xml" }));
  $("png").onclick = () => $("map").toBlob((blob) => download("attention.png", blob));
  $("copy").onclick = async () => {
    options.onPlace?.(place());
    try { await navigator.clipboard.writeText(location.href); } catch { prompt(say.copy, location.href); }
    $("copy").textContent = say.copied;
    setTimeout(() => { $("copy").textContent = say.copy; }, 1500);
  };
  addEventListener("resize", () => { if (parts.length > 0) sizeThumbs(); redraw(false); });
  darkScheme.addEventListener("change", () => redraw(true));

  return {
    show(data, at) {
      [parts, alignment] = [unpackParts(data.parts), data.alignment && unpack(data.alignment)];
      restore(at, data.start);
      redraw(true);
    },
    redraw,
    parts: () => parts,
    alignment: () => alignment,
  };
}
