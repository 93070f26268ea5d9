/** The status page: one HTML document without dependencies that reads /api/status every second. */
import { createHash } from 'node:crypto';
import { constantHtml, type Html, html } from '../text-rules/html.ts';
import { lookOfUi, themeOfUi, timesOfUi } from './look.ts';

const style = `${lookOfUi}
body { margin: 0 auto; max-width: 72rem; padding: 1.25rem; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; margin-bottom: 1.25rem; } header a + a { margin-left: auto; }
h1 { margin: 0; } h2 { font-size: 1.05rem; font-weight: 620; margin: 1.75rem 0 .5rem; }
.flow:not([hidden]) { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.flow li { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .6rem .9rem; min-width: 9rem; color: var(--quiet); font-size: .93em; }
.flow b { display: block; color: var(--ink); font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
th, td { text-align: left; padding: .4rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top; } th { background: var(--raised); } tr:last-child td { border-bottom: 0; }
td { font-variant-numeric: tabular-nums; } pre { font-size: .9em; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; } .quiet { color: var(--quiet); }
#problem, #held { border-left: 4px solid var(--bad); padding-left: .75rem; } #held { border-color: var(--warn); white-space: pre-line; }
@media (width < 40rem) { thead { display: none; } table, tbody, tr, td { display: block; } tr { padding: .4rem .8rem; border-bottom: 1px solid var(--line); } td { padding: .15rem 0; border: 0; } td[data-label]::before { content: attr(data-label) ': '; color: var(--quiet); } }`;

/** Text as a string of a script. */
const inScript = (text: string): string => JSON.stringify(text).replaceAll('<', String.raw`\u003c`);

const scriptWith = (command: string): string => `
${themeOfUi}
const at = (id) => document.getElementById(id);
const text = (value) => document.createTextNode(value);
const cell = (value, code) => { const td = document.createElement('td'); const inner = document.createElement(code ? 'pre' : 'span'); inner.append(text(value)); td.append(inner); return td; };
const fill = (id, rows, empty) => { const body = at(id); body.replaceChildren(...(rows.length ? rows : [[empty]]).map((cells) => { const tr = document.createElement('tr'); tr.append(...cells.map((c) => Array.isArray(c) ? cell(c[0], true) : cell(String(c)))); if (cells.length === 1) tr.firstChild.colSpan = 9; else [...tr.cells].forEach((td, index) => { td.dataset.label = body.parentElement.tHead.rows[0].cells[index].textContent; }); return tr; })); };
${timesOfUi}
const time = (ms) => ms ? format.format(ms) : 'never';
const span = (s) => s < 120 ? Math.round(s) + ' s' : s < 7200 ? Math.floor(s / 60) + ' min' : s < 172800 ? Math.floor(s / 3600) + ' h' : Math.floor(s / 86400) + ' d';
async function refresh() {
  try {
    const answer = await fetch('/api/status', { headers: { 'platform-session': localStorage.getItem('platform.session') ?? 'none' } });
    if (answer.status === 401) return location.assign('/sign-in?next=/status');
    if (!answer.ok) throw new Error((await answer.json()).message);
    const s = await answer.json();
    at('problem').hidden = true;
    at('who').textContent = s.organization + ' · version ' + s.version + ' · up ' + span(s.uptimeMs / 1000);
    const all = s.installation;
    at('figures').hidden = all === null; at('part').hidden = all !== null;
    if (all) for (const id of ['uploads', 'rows', 'delivered', 'waiting', 'failed']) at(id).textContent = all[id];
    fill('parts', s.parts.map((p) => [p.machine, p.part, p.state.replace('_', ' '), time(p.lastSeenMs), p.held ? 'waits since ' + time(p.held.sinceMs) + (p.held.reason ? ': ' + p.held.reason : '') : '']), 'No machine yet.');
    const long = s.parts.filter((p) => p.held && p.held.isLong);
    at('held').hidden = long.length === 0;
    at('held').textContent = long.map((p) => p.machine + '/' + p.part + ' has held a new configuration back for more than a day, since ' + time(p.held.sinceMs) + '. An owner can force it: ' + ${inScript(command)} + ' machines part force').join('\\n');
    fill('readings', s.latest.map((r) => [time(r.timeMs), r.part, r.component + ' · ' + r.method, [JSON.stringify(r.data)]]), all ? 'No readings yet. The readings of a machine-server that captures appear here within seconds.' : 'None of your readings are among the newest uploads of this installation.');
    fill('deliveries', s.notify.attempts.map((d) => [time(d.atMs), d.trigger, d.target, d.outcome]), 'Nothing sent yet.');
    at('mails').hidden = s.notify.undeliveredMails.length === 0;
    fill('undelivered', s.notify.undeliveredMails.map((d) => [time(d.atMs), d.trigger, d.target, d.attempt, d.outcome]), '');
    fill('caught', s.caught.map((c) => [time(c.receivedAt), c.method + ' ' + c.path, [c.body]]), 'The built-in test inbox has not received anything yet.');
  } catch (error) { at('problem').hidden = false; at('problem').textContent = 'Not up to date: ' + error.message; }
  setTimeout(refresh, 1000);
}
refresh();`;

const sha = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export interface StatusPage {
  readonly html: Html;
  readonly contentSecurityPolicy: string;
}

/** @param command how users start the command line, for hints */
export function createStatusPage(command: string): StatusPage {
  const script = scriptWith(command);
  return {
    contentSecurityPolicy: `default-src 'none'; connect-src 'self'; script-src ${sha(script)}; style-src ${sha(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    html: html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>platform: status</title><style>${constantHtml(style)}</style></head>
<body>
<header><a class="brand" href="/">platform</a><a href="/account">Your account</a></header>
<main><h1>Installation status</h1><div class="quiet" id="who">…</div>
<p id="problem" role="alert" hidden></p>
<p id="held" role="status" hidden></p>
<p id="part" class="quiet" hidden>This page shows what you own or operate. Owners of all organizations also see figures of the whole installation.</p>
<ul class="flow" id="figures">
<li>uploads accepted<b id="uploads">…</b></li><li>readings queryable<b id="rows">…</b></li><li>webhooks delivered<b id="delivered">…</b></li><li>webhooks waiting<b id="waiting">…</b></li><li>webhooks given up<b id="failed">…</b></li>
</ul>
<h2>Machines</h2><div class="wide"><table><thead><tr><th>machine</th><th>part</th><th>state</th><th>last seen</th><th>held configuration</th></tr></thead><tbody id="parts"></tbody></table></div>
<h2>Latest readings</h2><div class="wide"><table><thead><tr><th>time</th><th>part</th><th>from</th><th>data</th></tr></thead><tbody id="readings"></tbody></table></div>
<h2>Deliveries</h2><div class="wide"><table><thead><tr><th>time</th><th>trigger or mail</th><th>target</th><th>outcome</th></tr></thead><tbody id="deliveries"></tbody></table></div>
<div id="mails" hidden><h2>Undelivered mails</h2><div class="wide"><table><thead><tr><th>time</th><th>mail</th><th>to</th><th>attempt</th><th>outcome</th></tr></thead><tbody id="undelivered"></tbody></table></div></div>
<h2>Webhooks in the test inbox</h2><div class="wide"><table><thead><tr><th>time</th><th>request</th><th>body</th></tr></thead><tbody id="caught"></tbody></table></div>
</main><script>${constantHtml(script)}</script>
</body></html>
`,
  };
}
