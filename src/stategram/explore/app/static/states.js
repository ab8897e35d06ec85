"use strict";
/* The state microscope: which contexts a model takes for one state, what follows them, where they stand in the
   text; and the context tree of a word, level by level. */
(() => {
  const { element, joined, bars, plural } = explorer;
  const LISTED = 100;
  const CONTEXTS = 16;

  const context = (text) => element("bdi", { class: "context", dir: "auto" }, text);
  const contexts = (texts) => texts.flatMap((text, index) => (index ? [" · ", context(text)] : [context(text)]));

  /* ---- The list of states ---- */

  function chooser(data, source, selected, params) {
    let most = LISTED;
    const list = element("ul", { class: "state-list" });
    const found = element("p", { class: "note", role: "status" });
    const more = element("button", { type: "button", onclick: () => { most += 4 * LISTED; draw(); } }, "More states");
    const texts = data.states.map((state) => `${state.number} ${[...state.examples, ...state.next].join(" ")}`.toLowerCase());

    function draw() {
      const wanted = filter.value.trim().toLowerCase();
      const kept = data.states.filter((state, index) => texts[index].includes(wanted));
      list.replaceChildren(...kept.slice(0, most).map((state) => element("li", null,
        element("a", { href: explorer.href("states", { source, state: state.number, filter: filter.value.trim(), word: params.word }),
          "aria-current": state.number === selected && "true" },
          element("span", { class: "state-contexts" }, contexts(state.examples)),
          element("span", { class: "note next" }, joined(state.next)),
          element("span", { class: "note" }, `state ${state.number}: ${plural(state.contexts, "context")}, ${explorer.count(state.events)} events`)))));
      more.hidden = kept.length <= most;
      found.textContent = wanted
        ? `${plural(kept.length, "state")} with “${filter.value.trim()}”`
        : `${plural(kept.length, "state")}, the most frequent first`;
    }
    const filter = element("input", { type: "search", id: "state-filter", value: params.filter, autocomplete: "off", spellcheck: "false", dir: "auto",
      oninput: () => {
        most = LISTED;
        explorer.replace("states", { ...explorer.place().params, filter: filter.value.trim() });
        draw();
      } });
    draw();
    return element("div", { class: "state-chooser" },
      element("p", { class: "cl-field" }, element("label", { for: "state-filter" }, "Find a context"), filter),
      found,
      element("div", { class: "state-scroll", role: "group", "aria-label": "States", tabindex: "0" }, list, more));
  }

  /* ---- One state ---- */

  /** Say why these contexts are one state, from what follows them. */
  function why(state) {
    const [first, second] = state.next;
    if (!first) return null;
    const sum = first.probability + (second ? second.probability : 0);
    if (state.rest) {
      return element("p", { class: "why" }, "All contexts of which nothing is known have this state, beside the ones below: "
        + "it says what follows where the model cannot tell contexts apart.");
    }
    const them = state.contexts === 1
      ? ["This context is a state of its own: what follows it, follows no other context as often. "]
      : [`These ${explorer.count(state.contexts)} contexts are one state because the same categories follow each of them: `];
    return element("p", { class: "why" }, them, "in ", explorer.percent(sum), " of the cases words such as ",
      joined(first.top.slice(0, 3)), second ? [" or ", joined(second.top.slice(0, 3))] : null,
      `. What was counted after one of them, ${plural(state.events, "event")} in all, predicts after all of them.`);
  }

  const concordance = (lines) => explorer.concordance(lines.map((line) => ({
    ...line, here: [explorer.word(line.context), " ", element("mark", null, explorer.word(line.word))],
    number: explorer.bits(line.surprisal),
  })));

  function describe(state, source) {
    const listed = (rows, name, label) => bars(rows.map((row) => ({ name: name(row), value: row.probability })), label);
    const category = (row) => explorer.classLink(state.categories, row.number, joined(row.top));
    const example = (each) => ({ name: context(each.context), value: each.count, text: explorer.count(each.count) });
    const list = element("div", null, bars(state.examples.slice(0, CONTEXTS).map(example), "Contexts of the state"));
    const more = state.examples.length > CONTEXTS && element("button", { type: "button", onclick: () => {
      list.replaceChildren(bars(state.examples.map(example), "Contexts of the state"));
      more.remove();
    } }, `${state.examples.length - CONTEXTS} more`);
    return [
      element("h3", { tabindex: "-1" }, `State ${state.number}`),
      element("p", { class: "note" }, `${plural(state.contexts, "context")} · ${plural(state.events, "event")}`),
      why(state),
      element("div", { class: "state-parts" },
        element("div", null, element("h4", null, "Its contexts"), list, more),
        element("div", null, element("h4", null, "Which category comes next"), listed(state.next, category, "Next categories")),
        element("div", null, element("h4", null, "Which word comes next"), listed(state.next_words, (row) => explorer.wordLink(row.word), "Next words")),
        state.nearest.length > 0 && element("div", null, element("h4", null, "Nearest states"),
          element("ul", { class: "cl-list" }, state.nearest.map((near) =>
            element("li", null, explorer.stateLink(source, near.number, contexts(near.examples))))))),
      element("h4", null, "In the text"),
      state.concordance.length
        ? [concordance(state.concordance), element("p", { class: "note" }, "The number: how surprising the word was, in bits.")]
        : element("p", { class: "note" }, "No text was given. Start the explorer with a text to see where these contexts stand in it."),
    ];
  }

  /* ---- The context tree of a word ---- */

  function column(level, source, columns) {
    const nodes = level.nodes.map((node, index) => ({ node, index }));
    const above = columns[columns.length - 1];
    // In the order of the level above, so that a context stands beside its parent.
    if (above) nodes.sort((a, b) => above.order.indexOf(a.node.parent) - above.order.indexOf(b.node.parent));
    const boxes = [];
    for (const { node, index } of nodes) {
      boxes[index] = element("li", { class: node.moved ? "moved" : null },
        context(node.context),
        element("span", { class: "note" }, explorer.count(node.count)),
        // Each level numbers its own states; only those of the last one have a view.
        level.level === source.depth
          ? explorer.stateLink(source.source, node.state)
          : element("span", { class: "note" }, `state ${node.state} of level ${level.level}`),
        node.moved && element("span", { class: "mark" }, "moved on its own"),
        node.next.length > 0 && element("span", { class: "note next" }, joined(node.next)));
    }
    return { boxes, order: nodes.map(({ index }) => index), nodes: level.nodes, level };
  }

  function contextTree(answer, source) {
    const columns = [];
    for (const level of answer.levels) columns.push(column(level, source, columns));
    const family = (at, index) => {
      const kin = [];
      for (let level = at, one = index; level >= 0 && one !== null && one !== undefined; one = columns[level].nodes[one].parent, level--) {
        kin.push(columns[level].boxes[one]);
      }
      let parents = new Set([index]);
      for (let level = at + 1; level < columns.length; level++) {
        const children = columns[level].nodes.flatMap((node, each) => (parents.has(node.parent) ? [each] : []));
        kin.push(...children.map((each) => columns[level].boxes[each]));
        parents = new Set(children);
      }
      return kin;
    };
    const box = element("div", { class: "context-tree" }, columns.map((each) => element("div", { class: "level" },
      element("h4", null, `Level ${each.level.level}: `, explorer.word(each.level.value)),
      element("ol", null, each.order.map((index) => each.boxes[index])))));
    const light = (at, index) => {
      for (const old of box.querySelectorAll(".kin")) old.classList.remove("kin");
      box.classList.toggle("lit", at !== null);
      if (at !== null) for (const one of family(at, index)) one.classList.add("kin");
    };
    columns.forEach((each, at) => each.boxes.forEach((one, index) => {
      one.addEventListener("pointerenter", () => light(at, index));
      one.addEventListener("focusin", () => light(at, index));
    }));
    box.addEventListener("pointerleave", () => light(null));
    box.addEventListener("focusout", () => light(null));
    return box;
  }

  function treeSection(model, source, params) {
    const newest = explorer.latest();
    const place = element("div");
    async function show(word) {
      place.replaceChildren();
      if (!word) return;
      try {
        const answer = await newest(explorer.api("context_tree", { model, source: source.source, word }));
        place.replaceChildren(answer.levels.some((level) => level.nodes.length)
          ? contextTree(answer, source)
          : element("p", { class: "note" }, "No context with ", explorer.word(word), " was seen in training."));
      } catch (problem) {
        explorer.error(place, problem);
      }
    }
    const box = explorer.wordBox({ label: "Word", value: params.word, take: (word) => {
      box.field.value = word;
      const target = explorer.href("states", { ...explorer.place().params, word });
      if (location.hash !== target) history.pushState(null, "", target);
      show(word);
    } });
    show(params.word);
    return element("section", { class: "tree-of-word", "aria-labelledby": "context-tree-title" },
      element("h3", { id: "context-tree-title" }, "The context tree of a word"),
      element("p", { class: "note" }, "Along a tree, contexts are moved level by level: first all with the same nearest value together, then "
        + "those with the same two values, down to the single context. Contexts too rare to move on their own stay "
        + "together and have the state of their group; one with another state than its group is marked."),
      box.node, place);
  }

  explorer.register({
    name: "states",
    title: "State microscope",
    about: "A state is a set of contexts after which the same words come next.",
    available: (model) => model.states.length > 0,
    async render(root, params) {
      const model = explorer.model;
      const sources = explorer.info.models[model].states;
      const source = explorer.chosen(sources, params.source);
      const data = await explorer.api("states", { model, source: source.source });
      if (!root.isConnected) return null;
      const number = params.state === undefined ? data.states[0] && data.states[0].number : Number(params.state);
      const detail = element("section", { class: "state-detail", "aria-label": "The selected state" });
      root.append(
        explorer.sourceSelect(sources, source, "states"),
        element("div", { class: "state-columns" }, chooser(data, source.source, number, params), detail),
        treeSection(model, source, params));
      const current = root.querySelector(".state-list [aria-current]");
      if (current) {
        const scroll = root.querySelector(".state-scroll");
        scroll.scrollTop = Math.max(0, current.parentNode.offsetTop - scroll.offsetTop - 40);
      }
      try {
        const state = await explorer.api("state", { model, source: source.source, number });
        if (!root.isConnected) return null;
        const parts = element("div", null, describe(state, source.source));
        detail.replaceChildren(...parts.childNodes);
      } catch (problem) {
        explorer.error(detail, problem);
      }
      explorer.keepFocus(root, "states", detail.querySelector("h3"));
      return null;
    },
  });
})();
