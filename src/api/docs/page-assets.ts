/** The page's style and script, served as files: the policy allows none inline. */

export const pageStyle = `:root {
  color-scheme: light dark;
  --text: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --back: #ffffff; --code: #f3f5f7; --link: #0550ae;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e8eb; --soft: #a3abb5; --line: #3a424c;
    --back: #14171b; --code: #20252b; --link: #8ab8ff;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; padding: 1rem; color: var(--text); background: var(--back);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
header, nav, main { max-width: 56rem; margin-inline: auto; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, input:focus-visible, [tabindex]:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px;
}
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; }
h1, h2, h3, h4 { line-height: 1.25; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
nav h2 { font-size: 1rem; margin: 1rem 0 .25rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .25rem 0; }
label { display: block; font-weight: 600; }
input {
  width: 100%; font: inherit; padding: .5rem; color: inherit; background: var(--code);
  border: 1px solid var(--soft); border-radius: .25rem;
}
article { border-top: 1px solid var(--line); padding-block: .5rem 1rem; }
.method { font: 600 .85em ui-monospace, monospace; color: var(--soft); }
.facts { color: var(--soft); }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; background: var(--code); }
code { padding: .1em .25em; border-radius: .2rem; }
pre { padding: .75rem; border-radius: .25rem; overflow-x: auto; overflow-wrap: normal; }
pre code { padding: 0; }
.scroll { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; vertical-align: top; padding: .35rem .75rem .35rem 0; }
tr { border-bottom: 1px solid var(--line); }
tbody th { font-weight: normal; }
details { margin-block: .5rem; }
summary { cursor: pointer; padding-block: .25rem; }
.fields { margin: .25rem 0; padding-inline-start: 1.25rem; }
@media (min-width: 72rem) {
  body { display: grid; grid-template-columns: 20rem minmax(0, 56rem); gap: 0 2rem; }
  header { grid-column: 1 / -1; margin: 0; max-width: none; }
  main { margin: 0; }
  nav { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 3px; }
}
`;

export const pageScript = `'use strict';
const form = document.getElementById('search');
const input = document.getElementById('find');
const count = document.getElementById('found-count');
const items = [...document.querySelectorAll('[data-find]')];
const narrow = () => {
  const words = input.value.toLowerCase().split(/\\s+/);
  let shown = 0;
  for (const item of items) {
    item.hidden = !words.every((word) => item.dataset.find.includes(word));
    if (!item.hidden) shown += 1;
  }
  for (const list of document.querySelectorAll('#found ul')) {
    const isEmpty = list.querySelector('li:not([hidden])') === null;
    list.hidden = isEmpty;
    list.previousElementSibling.hidden = isEmpty;
  }
  count.textContent = shown + ' of ' + items.length + ' operations';
};
form.hidden = false;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const first = items.find((item) => !item.hidden);
  if (first) first.querySelector('a').click();
});
input.addEventListener('input', narrow);
narrow();
`;
