/** The layout of the pages that the cloud itself makes: one style and one script; their content security policy forbids everything else. */
import { createHash } from 'node:crypto';
import { constantHtml, type Html, html } from '../../text-rules/html.ts';
import type { HttpResponse } from '../../wire/route.ts';
import { sendHtml } from '../http.ts';
import { lookOfUi } from '../look.ts';
import { pageScript } from './page-script.ts';

const style = `${lookOfUi}
body { min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; }
main { width: 100%; min-width: 0; max-width: 25rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 2rem; } main.wide { max-width: 46rem; }
.brand { margin-bottom: 1.25rem; } h1 { margin: 0 0 .5rem; } h2 { font-size: 1rem; font-weight: 620; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; } .quiet { color: var(--quiet); font-size: .93em; } .problem { border-left: 3px solid var(--bad); padding: .1rem 0 .1rem .75rem; color: var(--bad); overflow-wrap: anywhere; } .done { border-left: 3px solid var(--accent); padding: .1rem 0 .1rem .75rem; }
form { margin: 1rem 0 0; } .wide form { max-width: 22rem; } label { display: block; margin: .9rem 0 .3rem; font-size: .93em; font-weight: 550; }
input:not([type=hidden]) { width: 100%; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--strong-line); border-radius: 6px; padding: .55rem .7rem; } input[readonly] { color: var(--quiet); }
button, a.button { display: block; width: 100%; margin-top: 1.25rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; padding: .6rem 1rem; border-radius: 6px; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; }
button.second, a.button.second { background: transparent; color: var(--accent); border-color: var(--strong-line); margin-top: .6rem; } button.small { width: auto; margin: 0; padding: .15rem .6rem; font-size: .9em; display: inline-block; }
.or { display: flex; align-items: center; gap: .75rem; color: var(--quiet); font-size: .9em; margin-top: 1.25rem; } .or::before, .or::after { content: ''; flex: 1; border-top: 1px solid var(--line); }
details { margin-top: 1.25rem; } summary { cursor: pointer; color: var(--accent); font-size: .93em; } code { font-size: .9em; line-height: 1.5; display: block; padding: .7rem; border: 1px solid var(--line); border-radius: 6px; background: var(--page); overflow-wrap: anywhere; user-select: all; } code.lines { white-space: pre-wrap; }
table { font-size: .93em; } th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); } td form { margin: 0; } .scroll { overflow-x: auto; }`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const [styleHash, scriptHash] = [hashOf(style), hashOf(pageScript)];

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Default 200. */
  readonly status?: number;
  readonly wide?: boolean;
  /** Where its forms may redirect besides this cloud, as a source of a content security policy. */
  readonly formsTo?: string;
  /** What its script does: see page-script.ts. */
  readonly step?: 'open' | 'enter' | 'sign-in' | 'follow';
  /** The path to which `enter` and `sign-in` go on. */
  readonly next?: string;
}

/** Asks again, with the secret of the session, and shows the answer. @param formsTo as of the page that is then shown */
export function sendOpeningPage(response: HttpResponse, formsTo = ''): void {
  sendPage(response, {
    title: 'Opening',
    step: 'open',
    formsTo,
    body: html`<p class="quiet" role="status">One moment …</p>${needsScript}`,
  });
}

export const needsScript: Html = html`<noscript><p class="problem" role="alert">This page needs JavaScript: your session has a part that only a script of this cloud can keep.</p></noscript>`;

export function sendPage(response: HttpResponse, page: Page, headers: Record<string, string | string[]> = {}): void {
  const { title, body, status = 200, wide = false, formsTo = '', step, next } = page;
  const text = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title} · platform</title><style>${constantHtml(style)}</style></head>
<body><main${wide && html` class="wide"`}${step && html` data-step="${step}"`}${next && html` data-next="${next}"`}><a class="brand" href="/">platform</a>${body}</main><script>${constantHtml(pageScript)}</script></body></html>
`;
  sendHtml(response, status, text, {
    'content-security-policy': `default-src 'none'; style-src ${styleHash}; script-src ${scriptHash}; connect-src 'self'; form-action 'self'${formsTo && ` ${formsTo}`}; base-uri 'none'; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    // With no-referrer, browsers would send `origin: null` with the forms of the page.
    'referrer-policy': 'same-origin',
    ...headers,
  });
}
