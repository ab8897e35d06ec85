(() => {
  "use strict";
  /* Ladder: the prediction after one history, from the unigram step by step to the whole model. */
  const { element, word, percent, count } = explorer;

  /* ---- The table ---- */

  function cell(watched, best) {
    const isBest = watched.probability === best && best > 0;
    const share = best > 0 ? 100 * watched.probability / best : 0;
    return element("span", { class: isBest ? "rung best" : "rung" },
      element("span", { class: "figure" }, percent(watched.probability),
        isBest && element("span", { class: "sr" }, " (best)")),
      element("span", { class: "track", "aria-hidden": "true" }, element("i", { style: `width: ${share.toFixed(1)}%` })),
      element("small", null, watched.rank === null ? "rank –" : `rank ${count(watched.rank)}`));
  }

  function draw(node, answer) {
    const names = answer.rows.length ? answer.rows[0].watched.map((each) => each.word) : [];
    const best = names.map((_, index) => Math.max(...answer.rows.map((row) => row.watched[index].probability)));
    const kind = { order: "n-gram", part: "part of the model", whole: "all parts together" };
    const columns = [
      { title: "Predicted by", value: (row) => [
        row.title,
        element("small", null, row.weight === null || row.weight === undefined
          ? kind[row.kind] : `${kind[row.kind]}, weight ${percent(row.weight)}`),
      ] },
      ...names.map((name, index) => ({
        title: name, style: "number", value: (row) => cell(row.watched[index], best[index]),
      })),
      { title: "Likeliest words", value: (row) => element("span", { class: "likeliest" }, row.top.map((item) =>
        element("span", { class: names.includes(item.word) && "marked" },
          explorer.wordLink(item.word), element("sub", null, percent(item.probability))))) },
    ];
    const table = explorer.table(columns, answer.rows, { caption: "From the unigram to the whole model" });
    table.querySelectorAll("thead th").forEach((head, index) => {
      if (index > 0 && index <= names.length) head.replaceChildren(word(names[index - 1]));
    });
    table.querySelectorAll("tbody tr").forEach((row, index) => row.classList.add(answer.rows[index].kind));
    node.replaceChildren(table, element("p", { class: "note" }, names.length
      ? "Bars compare the rows of a column; the best of each column is in bold. "
        + "Rank 1 is the likeliest word of all."
      : "Add a word above to follow its probability and rank down the table."));
  }

  /* ---- The view ---- */

  /** Begin with the first words of the text at hand and the word that really follows. */
  function example() {
    const words = explorer.info.sample.split("\n").map((line) => line.trim().split(/\s+/)).find((line) => line.length > 5);
    return words ? { history: words.slice(0, 4).join(" "), watched: words[4] } : { history: "", watched: "" };
  }

  function render(root, params) {
    const model = explorer.model;
    const newest = explorer.latest();
    const first = "history" in params || "watched" in params ? params : example();
    let history = first.history || "";
    const watched = [...new Set((first.watched || "").split(/\s+/).filter(Boolean))];
    const result = element("div", { class: "rungs" });
    const chips = element("ul", { class: "chips", "aria-label": "Watched words" });

    async function update() {
      explorer.replace("ladder", { model, history, watched: watched.join(" ") });
      result.classList.add("waiting");
      try {
        draw(result, await newest(explorer.api("ladder", { model, history: history.trim(), watched: [...watched] })));
      } catch (problem) {
        result.replaceChildren();
        explorer.error(result, problem);
      }
      result.classList.remove("waiting");
    }
    const later = explorer.debounce(update, 250);

    const historyBox = explorer.combobox({
      label: "History", value: history, placeholder: "the start of a sentence",
      hint: "The words so far. Suggestions are what the model expects next; Tab or Enter takes one.",
      complete: (value) => {
        const [, before, typed] = /^(.*?)(\S*)$/s.exec(value);
        return explorer.suggestions("predict", { history: before.trim().replace(/\s+/g, " ") }, typed, "probability");
      },
      input: (value) => { history = value.replace(/\s+/g, " "); later(); },
      take: (chosen, field) => {
        field.value = field.value.replace(/\S*$/, "") + chosen + " ";
        field.dispatchEvent(new Event("input"));
      },
      enter: () => { later.cancel(); update(); },
    });

    function drawChips() {
      chips.hidden = !watched.length;
      chips.replaceChildren(...watched.map((each) => element("li", null, word(each), element("button", {
        type: "button", "aria-label": `Stop watching ${each}`,
        onclick: () => {
          watched.splice(watched.indexOf(each), 1);
          drawChips();
          watchBox.field.focus();
          update();
        },
      }, "×"))));
    }

    function watch(text) {
      for (const each of text.trim().split(/\s+/)) if (each && !watched.includes(each)) watched.push(each);
      watchBox.field.value = "";
      drawChips();
      update();
    }

    const watchBox = explorer.wordBox({ label: "Watch a word", placeholder: "add a word", take: watch });

    drawChips();
    root.append(
      element("div", { class: "asking" }, historyBox.node, element("div", null, watchBox.node, chips)), result);
    update();
    return later.cancel;
  }

  explorer.register({
    name: "ladder", title: "Ladder", render,
    about: "What each part of the model expects after a history, from the plain frequency of words up to all of it.",
  });
})();
