/** The answer of a page on the machine's port, and how it is sent. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import type { NodeResponse } from '@platform/rpc/server';
import { Html } from './html.ts';

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a body that is text; default: text. A page is HTML of the `html` template, never text. */
  readonly type?: 'json' | 'text';
  readonly body: string | Html | File;
}

/** An open file of `-shareddir`. */
export interface File extends AsyncDisposable {
  readonly type: string;
  readonly bytes: number;
  /** Its content; its end closes the file. Called at most once. */
  readonly open: () => Readable;
}

const htmlType = 'text/html; charset=utf-8';
const types = { json: 'application/json', text: 'text/plain; charset=utf-8' };

const always = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function sendAnswer(response: NodeResponse, answer: Answer, isHead: boolean): void {
  const { status, headers = {}, type = 'text' } = answer;
  const isHtml = answer.body instanceof Html;
  const body = answer.body instanceof Html ? answer.body.text : answer.body;
  const isText = typeof body === 'string';
  response.statusCode = status;
  const all = {
    ...always,
    ...headers,
    'content-type': isText ? (isHtml ? htmlType : types[type]) : body.type,
    'content-length': String(isText ? Buffer.byteLength(body) : body.bytes),
  };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  // A peer that disconnects, or a file that shrinks meanwhile, ends the answer; there is no one to report it to.
  if (!isText && !isHead && body.bytes > 0) return void pipeline(body.open(), response, () => {});
  if (!isText) Promise.resolve(body[Symbol.asyncDispose]()).catch(() => {});
  const text = isText && !isHead ? body : '';
  // The two types differ in overloads only, yet TypeScript cannot call their union.
  if ('stream' in response) response.end(text);
  else response.end(text);
}
