(() => {
  "use strict";
  /* Overview: what the model is, its figures, examples of its content, how it was made. */
  const { element, facts, href, joined, word } = explorer;

  function views() {
    return element("ul", { class: "views" }, explorer.usable().slice(1).map((view) => element("li", null,
      element("a", { href: href(view.name) }, view.title), " ", element("span", { class: "note" }, view.about))));
  }

  const part = (title, ...content) => element("section", null, element("h3", null, title), content);

  const folded = (title, ...content) => element("details", { class: "more" }, element("summary", null, title), content);

  function section({ title, facts: known, tables, titles, weights, text, folded: isFolded }) {
    const content = [
      known.length > 0 && facts(known),
      tables.map(({ columns, rows, notes, title: caption }) => [explorer.table(columns, rows, { caption }),
        notes.map((note) => element("p", { class: "note" }, note))]),
      weights.length > 1 && element("figure", null, element("figcaption", null, element("h4", null, "Weights of the parts")),
        explorer.stack(titles, weights)),
      text && folded("Recipe, with all defaults and sizes", element("pre", { tabindex: "0" }, text)),
    ];
    if (!known.length && !tables.length && !text) return null;
    return isFolded ? folded(title, content) : part(title, content);
  }

  function ngrams(rows) {
    const links = (row) => row.map((text, index) => [index > 0 && " · ",
      element("a", { class: "word", href: href("ladder", { history: text }) }, word(text))]);
    return rows.length > 0 && part("Frequent n-grams",
      element("p", { class: "note" }, "The most frequent first; select one to see what follows it."),
      facts(rows.map((row, index) => [index ? `${index + 1} words` : "1 word", links(row)])));
  }

  function clusters(heading, note, sources, line) {
    return sources.filter(({ examples }) => examples.length).map(({ source, title, examples }) =>
      part(sources.length > 1 ? `${heading}: ${title}` : heading, element("p", { class: "note" }, note),
        element("ul", { class: "clusters" }, examples.map((each) => element("li", null, line(source, each))))));
  }

  async function render(root) {
    const answer = await explorer.api("overview", { model: explorer.model });
    root.append(
      element("p", { class: "lede" }, answer.title),
      facts(answer.facts),
      views(),
      element("div", null, answer.sections.slice(0, -1).filter((each) => !each.folded).map(section)),
      element("div", null, clusters("Typical word classes", "Classes that say much of what follows them.", answer.classes,
        (source, each) => element("p", { class: "words" }, explorer.classLink(source, each.number, joined(each.words))))),
      element("div", null, clusters("Typical states", "Contexts that are one state, and the likeliest words after them.", answer.states,
        (source, each) => [element("p", { class: "words" }, explorer.stateLink(source, each.number, joined(each.contexts))),
          element("p", { class: "words next" }, joined(each.words))])),
      ngrams(answer.ngrams) || "",
      element("div", { class: "parts" }, answer.sections.filter((each) => each.folded).map(section)),
      section(answer.sections.at(-1)) || "");
  }

  explorer.register({ name: "overview", title: "Overview", render });
})();
