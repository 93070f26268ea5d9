/**
 * Serves the web UI: the files of one build, whose directory `platform up` sets in PLATFORM_WEB_UI. Every page of the UI is `index.html`;
 * its scripts decide by the path what to show. Files under `_app/immutable/` have a hash in their names, and browsers keep them
 * permanently.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { failedPrecondition } from '@platform/base';
import { html } from '../../text-rules/html.ts';
import { type HttpRequest, type HttpResponse, writeHead } from '../../wire/route.ts';
import { headerOf } from '../http.ts';

export interface WebUi {
  /** Sends a file of the build; returns false if there is no file with this path. */
  file(request: HttpRequest, response: HttpResponse, path: string): boolean;
  /** Sends the page of the UI. */
  page(request: HttpRequest, response: HttpResponse): void;
}

/** Paths that the UI shows, besides `/`. */
export function isPageOfUi(path: string): boolean {
  return path === '/o' || path.startsWith('/o/');
}

interface Stored {
  readonly body: Buffer;
  /** Compressed once, when first requested; undefined: not worth it. */
  readonly gzip: (() => Buffer) | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const compressible = /^(text|application\/json|image\/svg)/;
const pageName = '/index.html';

/**
 * @param command how users start the command line; the page has it as its meta element `platform-command`, for hints
 * @param directory of a build; its files are read at the first request, so that a start stays fast
 * @throws failed_precondition if there is no build
 */
export function createWebUi(directory: string, command: string): WebUi {
  if (!existsSync(join(directory, pageName)))
    throw failedPrecondition(
      `PLATFORM_WEB_UI: expected a directory with index.html, found none in ${directory}; build it with npm run build:web, or unset the variable`,
    );
  let files: ReadonlyMap<string, Stored> | undefined;
  const send = (request: HttpRequest, response: HttpResponse, stored: Stored): void => {
    const zipped = /\bgzip\b/.test(headerOf(request, 'accept-encoding')) ? stored.gzip?.() : undefined;
    const body = zipped ?? stored.body;
    writeHead(response, 200, {
      ...stored.headers,
      ...(stored.gzip && { vary: 'accept-encoding' }),
      ...(zipped !== undefined && { 'content-encoding': 'gzip' }),
      'content-length': String(body.length),
    }).end(request.method === 'HEAD' ? undefined : body);
  };
  return {
    file(request, response, path) {
      files ??= readBuild(directory, command);
      const stored = path === pageName ? undefined : files.get(path);
      if (stored !== undefined) send(request, response, stored);
      return stored !== undefined;
    },
    page(request, response) {
      files ??= readBuild(directory, command);
      send(request, response, files.get(pageName) as Stored);
    },
  };
}

function readBuild(directory: string, command: string): ReadonlyMap<string, Stored> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Map<string, Stored>();
  for (const entry of entries) {
    const full = join(entry.parentPath, entry.name);
    const type = types[extname(entry.name)];
    if (type === undefined) continue;
    const path = `/${relative(directory, full).split(sep).join('/')}`;
    const stored = readFileSync(full);
    const body = path === pageName ? withCommand(stored, command) : stored;
    const gzip = compressible.test(type) && body.length > 1_000 ? gzipOnce(body) : undefined;
    files.set(path, { body, gzip, headers: headersOf(path, type, body) });
  }
  return files;
}

function withCommand(page: Buffer, command: string): Buffer {
  const meta = html`<meta name="platform-command" content="${command}">`;
  return Buffer.from(page.toString('utf8').replace('</head>', () => `${meta.html}</head>`));
}

function gzipOnce(body: Buffer): () => Buffer {
  let gzip: Buffer | undefined;
  return () => {
    gzip ??= gzipSync(body, { level: 9 });
    return gzip;
  };
}

function headersOf(path: string, type: string, body: Buffer): Record<string, string> {
  const common = { 'content-type': type, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };
  if (path !== pageName)
    return {
      ...common,
      'cache-control': path.startsWith('/_app/immutable/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
  return {
    ...common,
    'cache-control': 'no-store',
    'content-security-policy': policyOf(body.toString('utf8')),
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  };
}

/** Allows the files of this cloud, and, by its hash, the one script that starts the page; no other inline code, nothing from elsewhere. */
export function policyOf(page: string): string {
  const hashes = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`.trimEnd(),
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
