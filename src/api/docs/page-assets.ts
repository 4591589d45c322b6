/** The page's own style and script, served as files: the policy allows none inline. The console's style comes first. */

export const pageStyle = `.docs { overflow-wrap: anywhere; }
.docs article, .docs section { scroll-margin-top: 1rem; }
.docs article { border-top: 1px solid var(--line); padding-block: 1rem 1.25rem; }
.docs section > h2 { margin: 2rem 0 .75rem; font-size: 1.25rem; }
.docs h4 { margin: .75rem 0 .25rem; font-size: .875rem; }
.docs h3 a { color: inherit; text-decoration: none; }
.docs h3 a:hover { text-decoration: underline; }
.docs p { margin-block: .375rem; }
.docs .method { font: 600 .85em var(--mono); color: var(--soft); }
.docs .facts { display: block; color: var(--soft); }
.docs code { padding: .1em .25em; border-radius: .2rem; background: var(--sunken); }
.docs .code { position: relative; }
.docs pre {
  margin-block: .5rem; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--sunken);
  overflow-x: auto; overflow-wrap: normal;
}
.docs pre code { padding: 0; background: none; }
.docs .code .button { position: absolute; top: .5rem; right: .5rem; min-height: 2rem; background: var(--card); }
.docs .scroll { position: relative; overflow-x: auto; overflow-wrap: normal; }
.docs table { border-collapse: collapse; width: 100%; }
.docs th, .docs td { text-align: start; vertical-align: top; padding: .375rem .75rem .375rem 0; white-space: normal; }
.docs tr { border-bottom: 1px solid var(--line); }
.docs tbody th { font-weight: normal; }
.docs details { margin-block: .5rem; }
.docs summary { cursor: pointer; padding-block: .25rem; }
.docs .fields { margin: .25rem 0; padding-inline-start: 1.25rem; }
.docs nav ul { list-style: none; }
.docs nav h2 { margin: 1rem 0 .25rem; }
.docs nav li a { display: block; padding: .25rem 0; }
.docs .try { display: grid; gap: .5rem; margin-block: .5rem; }
.docs .try textarea { width: 100%; font: .85em var(--mono); }
.docs .try .button { justify-self: start; }
.docs .try .answer { max-height: 24rem; overflow: auto; }
.docs .try .answer:empty { padding: 0; border: 0; }
@media (max-width: 59.99rem) { .side .menu { display: block; } .side .menu ul { display: flex; flex-wrap: wrap; } }
@media (min-width: 80rem) {
  main.docs { display: grid; grid-template-columns: 18rem minmax(0, 1fr); gap: 0 2.5rem; }
  .docs .page-header { grid-column: 1 / -1; }
  .docs nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 3px; }
}
`;

export const pageScript = `'use strict';
const find = document.getElementById('search');
const input = document.getElementById('find');
const count = document.getElementById('found-count');
const index = document.getElementById('index');
const items = [...document.querySelectorAll('[data-find]')];
const narrow = () => {
  const words = input.value.toLowerCase().split(/\\s+/);
  if (input.value !== '') index.open = true;
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
find.hidden = false;
find.addEventListener('submit', (event) => {
  event.preventDefault();
  const first = items.find((item) => !item.hidden);
  if (first) first.querySelector('a').click();
});
input.addEventListener('input', narrow);
narrow();
if (innerWidth < 1280) index.open = false;

document.getElementById('origin').textContent = location.origin;

const button = (label, act) => {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'button secondary';
  made.textContent = label;
  made.addEventListener('click', act);
  return made;
};

for (const code of document.querySelectorAll('.docs pre')) {
  const frame = document.createElement('div');
  frame.className = 'code';
  code.replaceWith(frame);
  frame.append(code);
  // Browsers give the clipboard to pages with HTTPS alone; the text can be selected everywhere.
  if (!navigator.clipboard) continue;
  const copy = button('Copy', async () => {
    await navigator.clipboard.writeText(code.textContent);
    copy.textContent = 'Copied';
  });
  frame.append(copy);
}

const keyForm = document.getElementById('try-key');
const key = document.getElementById('key');
keyForm.hidden = false;
keyForm.addEventListener('submit', (event) => event.preventDefault());

const field = (label, value) => {
  const text = document.createElement('textarea');
  text.rows = 2;
  text.value = value;
  text.spellcheck = false;
  text.setAttribute('aria-label', label);
  return text;
};

const openTry = (article) => {
  const method = article.dataset.try;
  const example = article.querySelector('pre').textContent;
  const [, target = ''] = /"\\$API([^"]*)"/.exec(example) || [];
  const [, body] = /-d '([^]*)'$/.exec(example) || [];
  const where = field('Path and query', target);
  const what = body === undefined ? null : field('Body', body);
  const answer = document.createElement('pre');
  answer.className = 'answer';
  answer.tabIndex = 0;
  answer.setAttribute('role', 'status');
  let latest = new AbortController();
  const send = async () => {
    latest.abort();
    const sending = (latest = new AbortController());
    if (!key.value.startsWith('svc_test_')) {
      answer.innerHTML = '<a href="#try-key">Enter a test key first.</a> It starts with svc_test_; a live key would spend credits.';
      return;
    }
    answer.textContent = 'Waiting …';
    const headers = { Authorization: 'Bearer ' + key.value.trim(), Accept: 'application/json' };
    if (what) headers['Content-Type'] = 'application/json';
    try {
      const url = new URL(where.value, location.origin);
      if (url.origin !== location.origin) throw new Error('The path must begin with /.');
      const response = await fetch(url, {
        method, headers, credentials: 'omit', signal: sending.signal, ...(what ? { body: what.value } : {}),
      });
      const text = await response.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch {}
      answer.textContent = response.status + ' ' + response.statusText + '\\n' + shown.slice(0, 20000);
    } catch (error) {
      if (sending === latest) answer.textContent = error.message;
    }
  };
  const form = document.createElement('div');
  form.className = 'try';
  const run = button('Send', send);
  run.className = 'button primary';
  form.append(where, ...(what ? [what] : []), run, answer);
  return form;
};

for (const article of document.querySelectorAll('[data-try]')) {
  const open = button('Try it', () => {
    const form = openTry(article);
    open.replaceWith(form);
    form.querySelector('textarea').focus();
  });
  article.querySelector('.code').after(open);
}
`;
