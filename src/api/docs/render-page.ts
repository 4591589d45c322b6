/**
 * The API reference as an HTML page, rendered from the OpenAPI document. It works without its script, which only
 * filters the list, and loads nothing from other hosts.
 */
import { exampleCall } from './example-call.ts';
import { code, escapeHtml, sentence, table } from './markup.ts';
import type { Content, OpenApiDocument, Operation } from './open-api-document.ts';
import { describeType, renderFields, schemaAnchor } from './render-schema.ts';

interface Entry {
  method: string;
  path: string;
  anchor: string;
  operation: Operation;
}

/** The pages of the console, in the order of its navigation. */
const consolePages = [
  ['/batches', 'Lists'],
  ['/search', 'Search'],
  ['/exports', 'Exports'],
  ['/schedules', 'Schedules'],
  ['/keys', 'Keys'],
  ['/credits', 'Credits'],
  ['/webhooks', 'Webhooks'],
] as const;

/** Returns the page in the frame of the console, whose stylesheet is at this path. */
export function renderPage(document: OpenApiDocument, consoleStyle: string): string {
  const groups = groupByTag(document);
  const { title, description } = document.info;
  const links = consolePages.map(([path, label]) => `<li><a href="/#${path}">${label}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API · ${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escapeHtml(consoleStyle)}">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/script.js" defer></script>
</head>
<body>
<div class="frame">
<a class="skip" href="#content">Skip to the operations</a>
<header class="side">
<div class="side-head"><span class="logo"><svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8"/><path d="M8 10h16M8 22h10"/><path class="found" d="M8 16h16"/></svg> Enrichment</span></div>
<div class="menu"><nav aria-label="Pages"><ul>${links.join('\n')}
<li><a href="/docs" aria-current="page">API</a></li></ul></nav></div>
</header>
<main class="docs">
<header class="page-header"><div><h1>API</h1>
<p class="about"><span>${sentence(description)} The machine-readable document is <a href="/openapi.json">openapi.json</a>.</span></p></div></header>
${renderNavigation(groups)}
<div id="content" tabindex="-1">
${renderBasics(groups)}
${[...groups].map(([tag, entries]) => renderGroup(tag, entries)).join('\n')}
${renderSchemas(document)}
</div>
</main>
</div>
</body>
</html>
`;
}

function groupByTag({ paths }: OpenApiDocument): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0] || 'other';
      const entry = { method, path, anchor: operation.operationId, operation };
      groups.set(tag, [...(groups.get(tag) ?? []), entry]);
    }
  }
  return groups;
}

function renderNavigation(groups: ReadonlyMap<string, Entry[]>): string {
  const lists = [...groups].map(([tag, entries]) => {
    const links = entries.map(
      ({ method, path, anchor, operation }) =>
        `<li data-find="${escapeHtml(`${method} ${path} ${operation.summary}`.toLowerCase())}">
<a href="#${anchor}"><span class="method">${method.toUpperCase()}</span> ${escapeHtml(path)}</a></li>`,
    );
    return `<h2>${escapeHtml(tag)}</h2>\n<ul>${links.join('\n')}</ul>`;
  });
  return `<nav aria-label="Operations">
<form role="search" id="search" hidden>
<label for="find">Find an operation</label>
<input type="search" id="find" autocomplete="off" aria-controls="found">
<p role="status" id="found-count"></p>
</form>
<details id="index" open><summary>All operations</summary>
<div id="found">${lists.join('\n')}</div></details>
</nav>`;
}

function renderBasics(groups: ReadonlyMap<string, Entry[]>): string {
  const priced = [...groups.values()].flat().flatMap(({ path, anchor, operation }) => {
    const credits = operation['x-credits'];
    if (credits === undefined) return [];
    return [[`<a href="#${anchor}">${escapeHtml(path)}</a>`, String(credits)]];
  });
  return `<section id="basics" aria-labelledby="basics-title">
<h2 id="basics-title">Before the first call</h2>
<p>Every call sends a key. In the examples <code>$API</code> is the address of this service and
<code>$KEY</code> the key.</p>
<pre tabindex="0"><code>export API=<span id="origin">https://THIS-SERVICE</span> KEY=svc_test_...</code></pre>
<form id="try-key" class="field" hidden>
<label for="key">Test key, to try calls on this page</label>
<input id="key" type="password" autocomplete="off" placeholder="svc_test_…" aria-describedby="key-hint">
<p class="hint" id="key-hint">Create one under <a href="/#/keys">Keys</a> in test mode. It works on sample data, costs
nothing, and is forgotten when you leave this page.</p>
</form>
<p>Errors are problem documents (<code>application/problem+json</code>, RFC 9457):
<code>code</code> is stable and <code>errors</code> names what is wrong.</p>
<h3 id="prices">Prices</h3>
<p>Credits for a match, or for a person that a search returns. A row of a list costs the same as a call of its
operation, a person of an export costs 1. Everything else is free, including every miss and every error.</p>
${table('Prices', ['Call', 'Credits'], priced)}
</section>`;
}

function renderGroup(tag: string, entries: readonly Entry[]): string {
  const title = `group-${escapeHtml(tag)}`;
  return `<section aria-labelledby="${title}">
<h2 id="${title}">${escapeHtml(tag)}</h2>
${entries.map(renderOperation).join('\n')}
</section>`;
}

function renderOperation({ method, path, anchor, operation }: Entry): string {
  const { summary, parameters, requestBody, responses } = operation;
  const scope = operation['x-scope'];
  const statuses = Object.entries(responses);
  const errors = statuses.filter(([status]) => Number(status) >= 400);
  const successes = statuses.filter(([status]) => Number(status) < 400);
  const isTryable =
    requestBody === undefined || requestBody.content['application/json'] !== undefined;
  return `<article id="${anchor}" aria-labelledby="${anchor}-title"${isTryable ? ` data-try="${method.toUpperCase()}"` : ''}>
<h3 id="${anchor}-title"><a href="#${anchor}"><span class="method">${method.toUpperCase()}</span>
${escapeHtml(path)}</a></h3>
<p>${sentence(summary)}.</p>
<p class="facts">Credits: ${operation['x-credits'] ?? 0}. Scope: ${scope === undefined ? 'any key' : code(scope)}.</p>
<pre tabindex="0"><code>${escapeHtml(exampleCall(method, path, operation))}</code></pre>
${renderParameters(`${method.toUpperCase()} ${path}`, parameters)}
${requestBody === undefined ? '' : `<h4>Body</h4>\n${renderContent(requestBody.content)}`}
<h4>Responses</h4>
${successes.map(([status, { description = '', content = {} }]) => `<p><strong>${status}</strong> ${sentence(description)}</p>\n${renderContent(content)}`).join('\n')}
<details><summary>Errors: ${errors.map(([status]) => status).join(', ')}</summary>
${table(
  `Errors of ${method.toUpperCase()} ${path}`,
  ['Status', 'Meaning'],
  errors.map(([status, { description = '' }]) => [status, sentence(description)]),
)}
</details>
</article>`;
}

function renderParameters(call: string, parameters: Operation['parameters']): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((parameter) => [
    code(parameter.name),
    `${parameter.in}${parameter.required ? ', required' : ''}`,
    describeType(parameter.schema),
    sentence(parameter.schema.description ?? ''),
  ]);
  return `<h4>Parameters</h4>\n${table(`Parameters of ${call}`, ['Name', 'Where', 'Value', 'Meaning'], rows)}`;
}

function renderContent(content: Content): string {
  const types = Object.entries(content).map(([type, { schema }]) => {
    if (schema === undefined) return `<p>${code(type)}</p>`;
    const fields = renderFields(schema);
    const line = `${code(type)} ${describeType(schema)}`;
    return fields === ''
      ? `<p>${line}</p>`
      : `<details><summary>${line}</summary>${fields}</details>`;
  });
  return types.join('\n');
}

function renderSchemas({ components }: OpenApiDocument): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<article id="${schemaAnchor(name)}">
<h3><a href="#${schemaAnchor(name)}">${escapeHtml(name)}</a></h3>
<details><summary>Members</summary>${renderFields(schema)}</details>
</article>`,
  );
  return `<section aria-labelledby="schemas"><h2 id="schemas">Objects</h2>
${schemas.join('\n')}
</section>`;
}
