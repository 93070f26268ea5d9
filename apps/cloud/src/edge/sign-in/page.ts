/** The layout of the pages that the cloud itself makes: one style and one script; their content security policy forbids everything else. */
import { createHash } from 'node:crypto';
import { constantHtml, type Html, html } from '../../text-rules/html.ts';
import type { HttpResponse } from '../../wire/route.ts';
import { sendHtml } from '../http.ts';
import { pageScript } from './page-script.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --ink: light-dark(#1a1d21, #e8eaed); --quiet: light-dark(#5f6670, #9aa2ad); --line: light-dark(#d5d9de, #3a4049); --page: light-dark(#f4f5f7, #15181c); --card: light-dark(#fff, #1e2227); --action: light-dark(#1f5fd0, #7fb0ff); --on-action: light-dark(#fff, #0d1b33); --bad: light-dark(#b3261e, #ff9a91); }
* { box-sizing: border-box; } body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--ink); padding: 1.5rem; }
main { width: 100%; max-width: 24rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 2rem; } main.wide { max-width: 44rem; }
.brand { font-weight: 650; letter-spacing: -.01em; color: var(--quiet); margin: 0 0 1.25rem; } h1 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 .5rem; letter-spacing: -.01em; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; } .quiet { color: var(--quiet); font-size: .9rem; } .problem { border-left: 3px solid var(--bad); padding: .1rem 0 .1rem .75rem; color: var(--bad); overflow-wrap: anywhere; } .done { border-left: 3px solid var(--action); padding: .1rem 0 .1rem .75rem; }
form { margin: 1rem 0 0; } .wide form { max-width: 22rem; } label { display: block; margin: .9rem 0 .3rem; font-size: .9rem; font-weight: 550; }
input:not([type=hidden]) { width: 100%; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: .45rem; padding: .55rem .7rem; } input[readonly] { color: var(--quiet); }
button, a.button { display: block; width: 100%; margin-top: 1.25rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; padding: .6rem 1rem; border-radius: .45rem; border: 1px solid var(--action); background: var(--action); color: var(--on-action); cursor: pointer; }
button.second, a.button.second { background: transparent; color: var(--action); border-color: var(--line); margin-top: .6rem; } button.small { width: auto; margin: 0; padding: .15rem .6rem; font-size: .85rem; display: inline-block; }
:focus-visible { outline: 2px solid var(--action); outline-offset: 2px; } .or { display: flex; align-items: center; gap: .75rem; color: var(--quiet); font-size: .85rem; margin-top: 1.25rem; } .or::before, .or::after { content: ''; flex: 1; border-top: 1px solid var(--line); }
details { margin-top: 1.25rem; } summary { cursor: pointer; color: var(--action); font-size: .9rem; } a { color: var(--action); } code { font: .85rem/1.5 ui-monospace, monospace; display: block; padding: .7rem; border: 1px solid var(--line); border-radius: .45rem; background: var(--page); overflow-wrap: anywhere; user-select: all; } code.lines { white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; } th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); } td form { margin: 0; } .scroll { overflow-x: auto; }`;

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
<body><main${wide && html` class="wide"`}${step && html` data-step="${step}"`}${next && html` data-next="${next}"`}><p class="brand">platform</p>${body}</main><script>${constantHtml(pageScript)}</script></body></html>
`;
  sendHtml(response, status, text, {
    'content-security-policy': `default-src 'none'; style-src ${styleHash}; script-src ${scriptHash}; connect-src 'self'; form-action 'self'${formsTo && ` ${formsTo}`}; base-uri 'none'; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    // With no-referrer, browsers would send `origin: null` with the forms of the page.
    'referrer-policy': 'same-origin',
    ...headers,
  });
}
