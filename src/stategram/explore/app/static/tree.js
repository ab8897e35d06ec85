"use strict";
/* The tree of classes: which classes are merged first, what each merge costs, and where a word is. The tree is
   cut into so many clusters; a cluster can be zoomed into. */
(() => {
  const { element, svg, joined } = explorer;
  const FIRST_CUT = 24;
  const TOP = 12;

  /* ---- The tree as nodes: leaves 0..n-1 are the classes, node n+i is merge i, the last one is the root ---- */

  function grow(answer) {
    const { n } = answer;
    const nodes = [];
    for (let leaf = 0; leaf < n; leaf++) {
      // Inside a class the API gives no frequencies: the first word counts more than the second and third.
      const top = answer.top[leaf].map((word, rank) => [word, answer.tokens[leaf] / (rank + 1)]);
      nodes.push({ id: leaf, sides: null, parent: null, loss: 0, leaves: 1, classes: answer.special.includes(leaf) ? 0 : 1, first: leaf, depth: 0,
        tokens: answer.tokens[leaf], words: answer.words[leaf], top });
    }
    answer.merges.forEach(([a, b], index) => {
      const [left, right] = [nodes[a], nodes[b]];
      const top = [...left.top, ...right.top].sort((one, other) => other[1] - one[1]).slice(0, TOP);
      const node = { id: n + index, sides: [left, right], parent: null, loss: answer.losses[index], first: left.first, depth: 0,
        leaves: left.leaves + right.leaves, classes: left.classes + right.classes, tokens: left.tokens + right.tokens, words: left.words + right.words, top };
      left.parent = right.parent = node;
      nodes.push(node);
    });
    for (let id = nodes.length - 1; id >= n; id--) {
      const node = nodes[id];
      const path = answer.paths && answer.paths[node.first];
      if (path && path[node.depth] === "1") node.sides.reverse();
      for (const side of node.sides) side.depth = node.depth + 1;
    }
    const total = answer.losses.reduce((sum, loss) => sum + loss, 0);
    return { n, nodes, root: nodes[nodes.length - 1], total };
  }

  const plural = ({ classes }) => explorer.plural(classes, "class", "classes");

  const topWords = (node, most) => node.top.slice(0, most).map(([word]) => word);

  function ancestors(node) {
    const path = [];
    for (let each = node; each; each = each.parent) path.unshift(each);
    return path;
  }

  const bitsOf = (node) => ancestors(node).slice(1).map((each) => each.parent.sides.indexOf(each)).join("");

  /** Return which nodes below `root` are open when it is cut into `clusters`, the path to `leaf` opened too. A merge
      comes after those below it, so the last merges are always a connected top of the tree. */
  function opened(root, clusters, leaf) {
    const inner = [];
    const walk = [root];
    while (walk.length) {
      const node = walk.pop();
      if (!node.sides) continue;
      inner.push(node);
      walk.push(...node.sides);
    }
    inner.sort((a, b) => b.id - a.id);
    const open = new Set(inner.slice(0, clusters - 1));
    if (leaf && ancestors(leaf).includes(root)) {
      for (const node of ancestors(leaf)) if (node.id <= root.id && node.sides) open.add(node);
    }
    return open;
  }

  /** Return the visible nodes in order (a node before its sides), each with its row, rank and level. */
  function arranged(root, open) {
    const ranks = new Map([...open].sort((a, b) => b.id - a.id).map((node, rank) => [node, rank]));
    const items = [];
    let rows = 0;
    const visit = (node, level, position, parent) => {
      const item = { node, level, position, parent, open: open.has(node), rank: ranks.get(node), row: 0, sides: [] };
      items.push(item);
      if (item.open) {
        item.sides = node.sides.map((side, index) => visit(side, level + 1, index + 1, item));
        item.row = (item.sides[0].row + item.sides[1].row) / 2;
      } else item.row = rows++;
      return item;
    };
    visit(root, 1, 1, null);
    return { items, rows, splits: open.size };
  }

  /** The cuts of the slider: one by one first, then in steps of about 6%. */
  function cuts(most) {
    const list = [];
    for (let cut = 1; cut < most; cut = Math.max(cut + 1, Math.round(cut * 1.06))) list.push(cut);
    return [...list, most];
  }

  /* ---- Drawing ---- */

  function drawTree(root, leaf, onFocus, onOpen) {
    const wires = svg("svg", { class: "wires", "aria-hidden": "true" });
    const items = element("div", { class: "tree-items", role: "tree", "aria-label": "Tree of classes" });
    const node = element("div", { class: "tree-canvas" }, wires, items);
    const lit = new Set(leaf ? ancestors(leaf) : []);
    let width = 0;
    let clusters = 1;
    let made = [];

    function describe(split) {
      const [one, other] = split.sides.map((each) => topWords(each, 3).join(", "));
      return `Split of ${one} from ${other}: ${explorer.bits(1000 * split.loss)} millibits`;
    }

    function draw() {
      if (!width) return;
      const held = made.find((item) => item.box === document.activeElement);
      const { items: list, rows, splits } = arranged(root, opened(root, clusters, leaf));
      const row = rows > 60 ? 24 : 30;
      const span = Math.max(96, Math.min(.42 * width, 440));
      const most = Math.max(...list.map((item) => (item.open ? item.node.loss : 0)), 1e-12);
      const largest = Math.max(...list.map((item) => (item.open ? 0 : item.node.tokens)), 1e-12);
      const left = (item) => (item.open ? 10 + item.rank / Math.max(splits, 1) * (span - 22) : span);
      const top = (item) => row * (item.row + .5);
      const paths = { plain: "", lit: "" };
      for (const item of list) {
        const on = lit.has(item.node) ? " lit" : "";
        for (const side of item.sides) {
          const x = left(item).toFixed(1);
          paths[lit.has(side.node) ? "lit" : "plain"] += `M${x} ${top(item).toFixed(1)}V${top(side).toFixed(1)}H${left(side).toFixed(1)}`;
        }
        const aria = { role: "treeitem", tabindex: "-1", "aria-level": item.level, "aria-setsize": item.parent ? 2 : 1,
          "aria-posinset": item.position, "aria-expanded": item.node.sides ? String(item.open) : null,
          "aria-label": item.open ? describe(item.node) : null, "aria-selected": on ? "true" : null };
        if (item.open) {
          const size = 8 + 12 * Math.sqrt(item.node.loss / most);
          item.box = element("div", { ...aria, class: "split" + on, style:
            `left:${(left(item) - size / 2).toFixed(1)}px;top:${(top(item) - size / 2).toFixed(1)}px;width:${size.toFixed(1)}px;height:${size.toFixed(1)}px` });
        } else {
          item.box = element("div", { ...aria, class: "cluster" + on, style: `left:${span}px;top:${row * item.row}px;height:${row}px` },
            element("span", { class: "cluster-words" }, joined(topWords(item.node, 6))),
            element("i", { style: `width:${(3 * Math.sqrt(item.node.tokens / largest)).toFixed(2)}rem` }),
            element("span", { class: "cl-number" }, explorer.percent(item.node.tokens)),
            element("span", { class: "sr" }, item.node.sides ? ` of the text, ${plural(item.node)}` : ` of the text, class ${item.node.id}`));
        }
        item.box.item = item;
      }
      wires.replaceChildren(svg("path", { d: paths.plain }), svg("path", { class: "lit", d: paths.lit }));
      wires.setAttribute("width", span);
      wires.setAttribute("height", row * rows);
      node.style.height = `${row * rows}px`;
      items.replaceChildren(...list.map((item) => item.box));
      made = list;
      const again = held && list.find((item) => item.node === held.node);
      (again || list[0]).box.setAttribute("tabindex", "0");
      if (again) again.box.focus({ preventScroll: true });
    }

    function focus(item) {
      if (!item) return;
      for (const other of items.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
      item.box.setAttribute("tabindex", "0");
      item.box.focus();
    }

    const itemOf = (event) => { const box = event.target.closest("[role=treeitem]"); return box && box.item; };
    items.addEventListener("keydown", (event) => {
      const item = itemOf(event);
      if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
      const at = made.indexOf(item);
      if (event.key === "ArrowDown") focus(made[at + 1]);
      else if (event.key === "ArrowUp") focus(made[at - 1]);
      else if (event.key === "ArrowLeft") focus(item.parent);
      else if (event.key === "ArrowRight") focus(item.sides[0]);
      else if (event.key === "Home") focus(made[0]);
      else if (event.key === "End") focus(made[made.length - 1]);
      else if (event.key === "Enter" || event.key === " ") onOpen(item.node);
      else return;
      event.preventDefault();
    });
    items.addEventListener("focusin", (event) => { const item = itemOf(event); if (item) onFocus(item.node); });
    items.addEventListener("pointerover", (event) => { const item = itemOf(event); if (item) onFocus(item.node); });
    items.addEventListener("click", (event) => { const item = itemOf(event); if (item) onOpen(item.node); });

    const observer = new ResizeObserver(([entry]) => {
      if (Math.abs(entry.contentRect.width - width) < 1) return;
      width = entry.contentRect.width;
      draw();
    });
    observer.observe(node);
    return { node, cut: (number) => { clusters = number; draw(); }, done: () => observer.disconnect() };
  }

  /* ---- What the panel says ---- */

  function side(node, bit) {
    return element("div", { class: "side" },
      element("h4", null, `Side ${bit}`),
      element("p", { class: "words" }, joined(topWords(node, TOP))),
      element("p", { class: "note" }, `${node.classes ? plural(node) : "special words"} · ${explorer.percent(node.tokens)} of the text`));
  }

  function about(tree, node, source) {
    const facts = element("p", { class: "note" }, `${explorer.count(node.words)} words · ${explorer.percent(node.tokens)} of the text`);
    if (!node.sides) {
      return [element("h3", null, `Class ${node.id}`), facts, element("p", { class: "words" }, joined(topWords(node, TOP))),
        element("p", null, explorer.classLink(source, node.id, "Open it in the class map"))];
    }
    return [
      element("h3", null, node.parent ? `A cluster of ${plural(node)}` : `All ${plural(node)}`),
      facts,
      element("p", { class: "loss" }, element("b", null, (1000 * node.loss).toPrecision(3)), " millibits per word are lost when its two sides are merged",
        tree.total > 0 && `: ${explorer.percent(node.loss / tree.total)} of all that the classes know of each other`, "."),
      element("div", { class: "sides" }, node.sides.map((each, bit) => side(each, bit))),
    ];
  }

  function aboutWord(found, word, leaf, source) {
    if (!found && !leaf) return null;
    if (!leaf) {
      return element("p", { class: "found" }, explorer.word(word),
        found.known ? " has no class of its own here." : " is not in the vocabulary of this model.");
    }
    const path = bitsOf(leaf);
    return element("div", { class: "found" },
      element("p", null, word && [element("b", null, explorer.word(word)), " is in "],
        explorer.classLink(source, leaf.id, `${word ? "class" : "Class"} ${leaf.id}`), ": ", joined(topWords(leaf, 3)), "."),
      element("p", null, "Its path, one bit per split: ", element("code", null, path.replace(/(.{4})(?=.)/g, "$1 "))));
  }

  function crumbs(root, params) {
    const path = ancestors(root);
    if (path.length < 2) return null;
    const shown = path.length > 6 ? [path[0], null, ...path.slice(-4)] : path;
    return element("nav", { class: "crumbs", "aria-label": "Zoomed into" }, element("ol", null, shown.map((node) => {
      if (!node) return element("li", null, "…");
      const text = node.parent ? joined(topWords(node, 2)) : "All classes";
      return element("li", null, node === root
        ? element("span", { "aria-current": "true" }, text)
        : element("a", { href: explorer.href("tree", { ...params, node: node.parent ? node.id : undefined }) }, text));
    })));
  }

  explorer.register({
    name: "tree",
    title: "Tree of classes",
    about: "The two most similar clusters are merged, again and again, until one is left. The larger a dot, the more its "
      + "two sides differ. Select a dot or a cluster to zoom into it.",
    available: (model) => model.classes.length > 0,
    async render(root, params) {
      const model = explorer.model;
      const sources = explorer.info.models[model].classes;
      const found = params.word && await explorer.api("word", { model, word: params.word })
        .catch((problem) => { explorer.error(root, problem); });
      const placed = found && found.classes.length ? found.classes : null;
      const source = explorer.chosen(sources, params.source || (placed && placed[0].source));
      const answer = await explorer.api("tree", { model, source: source.source });
      if (!root.isConnected) return null;
      const tree = grow(answer);
      const own = placed && placed.find((each) => each.source === source.source);
      const number = own ? own.number : params.class === undefined || params.word ? -1 : Number(params.class);
      const leaf = number >= 0 && number < tree.n ? tree.nodes[number] : null;
      const wanted = tree.nodes[Number(params.node)];
      const zoomed = params.node !== undefined && wanted && wanted.sides ? wanted : tree.root;

      const panel = element("section", { class: "cl-panel", "aria-label": "The node of the tree" });
      const show = (node) => panel.replaceChildren(...about(tree, node, source.source));
      const drawing = drawTree(zoomed, leaf, show, (node) => {
        if (node === zoomed) return;
        explorer.follow(node.sides ? "tree" : "classes");
        if (node.sides) explorer.go("tree", { ...params, source: source.source, node: node.id });
        else explorer.go("classes", { source: source.source, class: node.id });
      });

      const steps = cuts(zoomed.leaves);
      const asked = Math.min(zoomed.leaves, Math.max(1, Math.round(Number(params.cut)) || FIRST_CUT));
      const output = element("output", { for: "cut" });
      let frame = 0;
      const apply = () => {
        const cut = steps[Number(slider.value)];
        output.textContent = explorer.count(cut);
        slider.setAttribute("aria-valuetext", `${cut} clusters`);
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => drawing.cut(cut));
      };
      const slider = element("input", { type: "range", id: "cut", min: 0, max: steps.length - 1, step: 1, oninput: () => {
        apply();
        params.cut = steps[Number(slider.value)];
        explorer.replace("tree", params);
      } });
      slider.value = steps.findIndex((cut) => cut >= asked);

      root.append(
        element("div", { class: "cl-controls" },
          explorer.sourceSelect(sources, source, "tree"),
          explorer.wordBox({ label: "Find a word", value: params.word, take: (word) => {
            explorer.go("tree", { source: source.source, cut: params.cut, word });
          } }).node,
          element("p", { class: "cl-field cl-slider" }, element("label", { for: "cut" }, "Clusters"), slider, output)),
        aboutWord(found, params.word, leaf, source.source) || "",
        crumbs(zoomed, { ...params, source: source.source }) || "",
        element("div", { class: "cl-columns" }, drawing.node, panel));
      show(zoomed);
      apply();
      explorer.keepFocus(root, "tree", root.querySelector(".crumbs a, [role=treeitem][tabindex='0']"));
      return () => { cancelAnimationFrame(frame); drawing.done(); };
    },
  });
})();
