/* What htmx leaves to a page: short addresses, errors said, ticks and typed text kept.
   Every page works without it. */
(() => {
  "use strict";
  const byId = id => document.getElementById(id);
  const here = () => location.pathname + location.search;
  let ticked = new Set(), typing = false, wasTyping = false, field = null, restoring = null;

  const say = (id, text) => {
    const place = byId(id);
    if (place) place.textContent = text;
  };

  /* A form asks for what is filled in alone. Who types or ticks in it has not chosen entrants: that is a button's work. */
  document.addEventListener("htmx:configRequest", event => {
    const {formData, headers, triggeringEvent, elt} = event.detail;
    const isForm = elt.tagName === "FORM";
    const before = new URLSearchParams(location.search).getAll("entrant");
    typing = isForm && triggeringEvent?.type === "input";
    headers.Accept = "text/html";
    for (const name of new Set(formData.keys())) {
      let values = formData.getAll(name).filter(value => value !== "");
      if (name === "entrant" && elt.id === "explore" && triggeringEvent?.type !== "submit")
        values = values.filter(value => before.includes(value));
      formData.delete(name);
      values.forEach(value => formData.append(name, value));
    }
  });

  /* A text typed on is one step of the way back, and the same address again is none. */
  document.addEventListener("htmx:beforeHistoryUpdate", event => {
    const {history} = event.detail;
    if (history.path === here() || (typing && wasTyping)) history.type = "replace";
    wasTyping = typing;
  });
  document.addEventListener("htmx:historyCacheMiss", event => {
    const {xhr} = event.detail, content = byId("content");
    xhr.setRequestHeader("Accept", "text/html");
    /* Who goes back does not wait any more for what was asked before. */
    restoring?.abort();
    restoring = xhr;
    if (content) htmx.trigger(content, "htmx:abort");
    wasTyping = false;
  });
  document.addEventListener("htmx:historyCacheMissLoadError", () => location.reload());

  /* An answer that is an error stands beside what was shown before. */
  document.addEventListener("htmx:responseError", event => {
    const {xhr} = event.detail, trouble = byId("trouble");
    if (!trouble) return;
    const isPage = (xhr.getResponseHeader("Content-Type") || "").includes("html");
    const main = isPage && new DOMParser().parseFromString(xhr.response, "text/html").querySelector("main");
    if (!main) return say("trouble", detailOf(xhr));
    main.querySelectorAll("h1, .actions").forEach(each => each.remove());
    trouble.replaceChildren(...main.childNodes);
  });
  const detailOf = xhr => {
    try {
      return JSON.parse(xhr.response).detail;
    } catch {
      return `The server answers ${xhr.status}. What is shown is what was there before.`;
    }
  };
  document.addEventListener("htmx:sendError", () =>
    say("trouble", "The server cannot be reached. What is shown is what was there before."));

  /* What was typed or ticked while the answer was under way stays. */
  /* What was said of one file is not said of another. */
  document.addEventListener("change", event => {
    if (event.target.name === "files" && event.target.form?.id === "drafting") byId("drafted").replaceChildren();
  });
  document.addEventListener("htmx:beforeSwap", event => {
    /* The page of a refused draft says why in the place of the draft. */
    if (event.detail.target?.id === "drafted" && event.detail.xhr.status === 422) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
    field = document.activeElement?.id === "q" ? document.activeElement : null;
  });
  document.addEventListener("htmx:afterSettle", event => {
    const now = byId("q");
    if (field && now && now !== field && now.value !== field.value) {
      now.value = field.value;
      now.dispatchEvent(new Event("input", {bubbles: true}));
    }
    field = null;
    askAgain(byId("explore"));
    begin(event.detail.requestConfig?.triggeringEvent?.type === "submit" || event.detail.target?.id !== "board");
  });
  document.addEventListener("htmx:historyRestore", () => begin(true));

  /* What was filled in while an order or a page was under way holds for the rows of that order too. */
  const askAgain = form => {
    if (!form) return;
    const asked = new URLSearchParams(location.search);
    const isAsked = ([name, value]) => !value || name === "entrant" || asked.getAll(name).includes(value);
    if (![...new FormData(form)].every(isAsked)) form.dispatchEvent(new Event("change", {bubbles: true}));
  };

  const boxes = () => [...document.querySelectorAll("#board input[name=entrant][form=explore]")];
  const tickAgain = () => {
    const shown = new Set(boxes().map(box => box.value));
    boxes().forEach(box => { box.checked = ticked.has(box.value); });
    const rest = [...ticked].filter(name => !shown.has(name));
    const place = byId("ticked");
    if (!place) return;
    place.hidden = rest.length === 0;
    place.replaceChildren("Ticked and not shown: ", ...rest.map(kept));
  };
  const kept = name => {
    const label = document.createElement("label"), box = document.createElement("input");
    Object.assign(box, {type: "checkbox", name: "entrant", value: name, checked: true});
    label.append(box, ` ${name} `);
    return label;
  };
  document.addEventListener("change", event => {
    if (event.target.name !== "entrant" || event.target.form?.id !== "explore") return;
    ticked[event.target.checked ? "add" : "delete"](event.target.value);
  });

  const begin = isAsAsked => {
    if (isAsAsked) ticked = new Set(new URLSearchParams(location.search).getAll("entrant").filter(Boolean));
    tickAgain();
  };
  begin(true);

  /* Who signed in is shown where their work is; a page that is kept for everybody does not know it. */
  const signedIn = /(?:^|; )__Host-plumbline-is=(\w+)\.([^;]+)/.exec(document.cookie), you = byId("you");
  if (you && !signedIn) you.textContent = "Sign in";
  /* Once: where htmx puts a whole page in place this runs again. */
  if (you && signedIn && !byId("to-work")) {
    const [, role, name] = signedIn, work = document.createElement("a"), as = document.createElement("small");
    Object.assign(work, {id: "to-work", href: "/account#benchmarks", className: "less", textContent: "Your benchmarks"});
    as.textContent = ` ${role}`;
    you.replaceChildren(decodeURIComponent(name), as);
    you.title = `Signed in as ${decodeURIComponent(name)}, ${role}`;
    you.before(work);
  }

  /* What is copied names the address under which the page was opened, and is chosen whole. */
  const own = () => document.querySelectorAll("#take[data-origin]").forEach(take => {
    take.querySelectorAll("[readonly]").forEach(each => {
      each.value = each.value.replaceAll(take.dataset.origin, location.origin);
    });
    take.dataset.origin = location.origin;
  });
  own();
  document.addEventListener("htmx:afterSettle", own);
  document.addEventListener("focusin", ({target}) => target.matches(".sheet [readonly]") && target.select());
  /* The clipboard is there over HTTPS and on one's own machine alone. */
  const copying = () => document.querySelectorAll(".copy").forEach(each => { each.hidden = !navigator.clipboard; });
  copying();
  document.addEventListener("htmx:afterSettle", copying);
  document.addEventListener("click", ({target}) => {
    if (!target.matches?.(".copy")) return;
    navigator.clipboard.writeText(target.parentElement.querySelector("[readonly]").value)
      .then(() => { target.textContent = "Copied"; });
  });

  /* How long ago a time is; the time itself is what one points at. */
  const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const relative = () => document.querySelectorAll("time[datetime]:not([title])").forEach(time => {
    const past_s = (Date.now() - new Date(time.dateTime)) / 1000;
    if (Number.isNaN(past_s)) return;
    const [unit, length_s] = units.find(([_, each]) => Math.abs(past_s) >= each) ?? ["second", 1];
    time.title = time.textContent.trim();
    time.textContent = new Intl.RelativeTimeFormat("en", {numeric: "auto"}).format(-Math.round(past_s / length_s), unit);
  });
  relative();
  document.addEventListener("htmx:afterSettle", relative);

  /* A link to something inside a fold or a menu opens it. */
  const unfold = () => {
    const fold = byId(location.hash.slice(1))?.closest("details");
    if (fold) fold.open = true;
  };
  unfold();
  addEventListener("hashchange", unfold);

  /* A menu closes when one goes on. */
  const close = but => document.querySelectorAll(".menu[open]").forEach(menu => {
    if (!menu.contains(but)) menu.open = false;
  });
  document.addEventListener("click", ({target}) => close(target));
  document.addEventListener("keydown", ({key}) => {
    const menu = document.activeElement?.closest(".menu[open]");
    if (key !== "Escape") return;
    close(null);
    menu?.querySelector("summary").focus();
  });

  /* A click on a rank pins its row above the others, and a second one takes it down. */
  document.addEventListener("click", ({target}) => {
    const name = target.closest?.(".ranks td.rank")?.parentElement.dataset.name;
    if (!name) return;
    const asked = new URLSearchParams(location.search), pins = asked.getAll("pin");
    asked.delete("pin");
    (pins.includes(name) ? pins.filter(each => each !== name) : [...pins, name]).forEach(each => asked.append("pin", each));
    location.search = asked.toString();
  });
})();
