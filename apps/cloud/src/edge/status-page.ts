/** The status page: one HTML document without dependencies that reads /api/status every second. */
import { createHash } from 'node:crypto';
import { constantHtml, type Html, html } from '../text-rules/html.ts';

const style = `
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem; }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.flow:not([hidden]) { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.flow li { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .9rem; min-width: 9rem; }
.flow b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { font-variant-numeric: tabular-nums; } code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; } .quiet { opacity: .7; } a { color: inherit; }
#problem, #held { border-left: 4px solid #c62828; padding-left: .75rem; } #held { border-color: #b26a00; white-space: pre-line; }`;

const script = `
const at = (id) => document.getElementById(id);
const text = (value) => document.createTextNode(value);
const cell = (value, code) => { const td = document.createElement('td'); const inner = document.createElement(code ? 'pre' : 'span'); inner.append(text(value)); td.append(inner); return td; };
const fill = (id, rows, empty) => { const body = at(id); body.replaceChildren(...(rows.length ? rows : [[empty]]).map((cells) => { const tr = document.createElement('tr'); tr.append(...cells.map((c) => Array.isArray(c) ? cell(c[0], true) : cell(String(c)))); if (cells.length === 1) tr.firstChild.colSpan = 9; return tr; })); };
const time = (ms) => ms ? new Date(ms).toLocaleTimeString() : 'never';
const day = (ms) => new Date(ms).toLocaleString();
async function refresh() {
  try {
    const answer = await fetch('/api/status', { headers: { 'platform-session': localStorage.getItem('platform.session') ?? 'none' } });
    if (answer.status === 401) return location.assign('/sign-in?next=/status');
    if (!answer.ok) throw new Error((await answer.json()).message);
    const s = await answer.json();
    at('problem').hidden = true;
    at('who').textContent = s.organization + ' · version ' + s.version + ' · up ' + Math.round(s.uptimeMs / 1000) + ' s';
    const all = s.installation;
    at('figures').hidden = all === null; at('part').hidden = all !== null;
    if (all) for (const id of ['uploads', 'rows', 'delivered', 'waiting']) at(id).textContent = all[id];
    fill('parts', s.parts.map((p) => [p.machine, p.part, p.state.replace('_', ' '), time(p.lastSeenMs), p.held ? 'waits since ' + day(p.held.sinceMs) + (p.held.reason ? ': ' + p.held.reason : '') : '']), 'No machine yet.');
    const long = s.parts.filter((p) => p.held && p.held.isLong);
    at('held').hidden = long.length === 0;
    at('held').textContent = long.map((p) => p.machine + '/' + p.part + ' has held a new configuration back for more than a day, since ' + day(p.held.sinceMs) + '. An owner can force it: platform machines part force').join('\\n');
    fill('readings', s.latest.map((r) => [time(r.timeMs), r.part, r.component + ' · ' + r.method, [JSON.stringify(r.data)]]), all ? 'No readings yet. The readings of a machine-server that captures appear here within seconds.' : 'None of your readings are among the newest uploads of this installation.');
    fill('deliveries', s.notify.attempts.map((d) => [time(d.atMs), d.trigger, d.target, d.outcome]), 'Nothing sent yet.');
    at('mails').hidden = s.notify.undeliveredMails.length === 0;
    fill('undelivered', s.notify.undeliveredMails.map((d) => [day(d.atMs), d.trigger, d.target, d.attempt, d.outcome]), '');
    fill('caught', s.caught.map((c) => [time(c.receivedAt), c.method + ' ' + c.path, [c.body]]), 'The built-in test inbox has not received anything yet.');
  } catch (error) { at('problem').hidden = false; at('problem').textContent = 'Not up to date: ' + error.message; }
  setTimeout(refresh, 1000);
}
refresh();`;

const sha = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const statusPage: { readonly html: Html; readonly contentSecurityPolicy: string } = {
  contentSecurityPolicy: `default-src 'none'; connect-src 'self'; script-src ${sha(script)}; style-src ${sha(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  html: html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>platform: status</title><style>${constantHtml(style)}</style></head>
<body>
<h1>platform</h1><div class="quiet"><span id="who">…</span> · <a href="/account">your account</a></div>
<p id="problem" role="alert" hidden></p>
<p id="held" role="status" hidden></p>
<p id="part" class="quiet" hidden>This page shows what you own or operate. Owners of all organizations also see figures of the whole installation.</p>
<ul class="flow" id="figures">
<li>uploads accepted<b id="uploads">…</b></li><li>readings queryable<b id="rows">…</b></li><li>webhooks delivered<b id="delivered">…</b></li><li>webhooks waiting<b id="waiting">…</b></li>
</ul>
<h2>Machines</h2><div class="wide"><table><thead><tr><th>machine</th><th>part</th><th>state</th><th>last seen</th><th>held configuration</th></tr></thead><tbody id="parts"></tbody></table></div>
<h2>Latest readings</h2><div class="wide"><table><thead><tr><th>time</th><th>part</th><th>from</th><th>data</th></tr></thead><tbody id="readings"></tbody></table></div>
<h2>Deliveries</h2><div class="wide"><table><thead><tr><th>time</th><th>trigger or mail</th><th>target</th><th>outcome</th></tr></thead><tbody id="deliveries"></tbody></table></div>
<div id="mails" hidden><h2>Undelivered mails</h2><div class="wide"><table><thead><tr><th>time</th><th>mail</th><th>to</th><th>attempt</th><th>outcome</th></tr></thead><tbody id="undelivered"></tbody></table></div></div>
<h2>Webhooks in the test inbox</h2><div class="wide"><table><thead><tr><th>time</th><th>request</th><th>body</th></tr></thead><tbody id="caught"></tbody></table></div>
<script>${constantHtml(script)}</script>
</body></html>
`,
};
