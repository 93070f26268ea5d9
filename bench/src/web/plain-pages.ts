/** Comparisons for the web UI: an empty page, and a page that has all its rows at once. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlainPages extends AsyncDisposable {
  readonly empty: string;
  /** A page whose element `main` scrolls through this many rows. */
  rows(count: number): string;
}

export async function servePlainPages(): Promise<PlainPages> {
  const server = createServer(({ url = '' }, response) => {
    const count = Number(new URL(url, 'http://plain').searchParams.get('rows') ?? 0);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(pageOf(count));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const empty = `http://127.0.0.1:${port}/`;
  return {
    empty,
    rows: (count) => `${empty}?rows=${count}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function pageOf(rows: number): string {
  const row = (_: unknown, at: number): string =>
    `<tr style="height:24px"><td>${at}</td><td>row ${at}</td><td>online</td><td>Home</td><td>just now</td></tr>`;
  const table = `<table>${Array.from({ length: rows }, row).join('')}</table>`;
  return `<!doctype html><title>plain</title><p>plain</p><main style="height:500px;overflow:auto">${table}</main>`;
}
