import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createWebUi, isPageOfUi, policyOf } from './web-ui.ts';

async function startUi(): Promise<(path: string) => Promise<Response>> {
  const directory = mkdtempSync(join(tmpdir(), 'platform-web-'));
  mkdirSync(join(directory, '_app', 'immutable'), { recursive: true });
  writeFileSync(join(directory, 'index.html'), '<head></head><p>page</p><script>start()</script>');
  writeFileSync(join(directory, '_app', 'immutable', 'a.js'), `export const a = '${'a'.repeat(2_000)}';`);
  const ui = createWebUi(directory, 'node tools/run.js');
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (isPageOfUi(path)) ui.page(request, response);
    else if (!ui.file(request, response, path)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  return (path) => fetch(`http://127.0.0.1:${port}${path}`);
}

test('every path of the UI is the one page, whose policy allows only its own script, by hash', async () => {
  const ask = await startUi();
  const page = await ask('/o/acme/machines');
  const text = await page.text();
  expect(text).toContain('<p>page</p>');
  expect(text).toContain('<meta name="platform-command" content="node tools/run.js"></head>');
  expect(page.headers.get('cache-control')).toBe('no-store');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain(`'sha256-${createHash('sha256').update('start()').digest('base64')}'`);
  expect(policy).not.toContain('unsafe');
});

test('browsers keep files with a hash in their names and get them compressed; others do not exist', async () => {
  const ask = await startUi();
  const file = await ask('/_app/immutable/a.js');
  expect(file.headers.get('content-encoding')).toBe('gzip');
  expect(file.headers.get('cache-control')).toContain('immutable');
  expect(await file.text()).toContain('export const a');
  expect((await ask('/_app/../../etc/passwd')).status).toBe(404);
  expect((await ask('/_app/immutable/b.js')).status).toBe(404);
});

test('a page without inline scripts has no hash in its policy', () => {
  expect(policyOf('<p></p>')).toContain("script-src 'self';");
});

test('a directory without a build is refused at the start, with the variable that names it', () => {
  expect(() => createWebUi('/nowhere', 'platform')).toThrow(
    /^PLATFORM_WEB_UI: expected a directory with index\.html, found none/,
  );
});
