import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { sendHtml, sendText } from '../edge/http.ts';
import { type Html, html } from './html.ts';

const hostile = `</title><meta http-equiv=refresh content="0;url='https://evil.example'">`;

test('every value in a page is escaped, in texts and attributes; only HTML stays as it is', () => {
  const page = html`<title>${hostile}</title><p title="${hostile}">${html`<b>${hostile}</b>`}</p>`;
  expect(page.html.match(/<[^>]*>/g)).toEqual([
    ...['<title>', '</title>'],
    expect.stringMatching(/^<p title="&lt;\/title&gt;[^"<>]*">$/),
    ...['<b>', '</b>', '</p>'],
  ]);
});

test('a page of plain text does not compile: text is no HTML, and is not sent as HTML', () => {
  // @ts-expect-error an object with text
  const forged: Html = { html: hostile };
  // @ts-expect-error plain text
  const plain: Parameters<typeof sendHtml>[2] = `<title>${hostile}</title>`;
  // @ts-expect-error a type that only `sendHtml` sends
  const type: Parameters<typeof sendText>[2] = 'text/html';
  expect([typeof forged, typeof plain, type]).toEqual(['object', 'string', 'text/html']);
  // Both are one function, so that no third way is needed.
  expect(readFileSync(new URL('../edge/http.ts', import.meta.url), 'utf8').match(/'text\/html'/g)).toHaveLength(1);
});
