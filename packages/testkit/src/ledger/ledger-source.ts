/** Serves the readings of a ledger over HTTP, so that the produced readings are known whatever happens to the program that reads them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Produced } from './account-for.ts';
import type { Ledger } from './ledger.ts';

export interface LedgerSource extends AsyncDisposable {
  /** The URL for a component: each GET returns a new reading, as JSON. @param padBytes length of a text that makes the reading larger */
  url(machine: string, component: string, padBytes?: number): string;
  /** In order of production. */
  readonly produced: readonly Produced[];
}

export async function startLedgerSource(ledger: Ledger): Promise<LedgerSource> {
  const produced: Produced[] = [];
  const server = createServer((request, response) => {
    const [, machine = '', component = '', pad = '0'] = (request.url ?? '').split('/');
    const reading = ledger.next(decodeURIComponent(machine), decodeURIComponent(component));
    produced.push({ ...reading, atMs: Date.now() });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...reading, ...(pad !== '0' && { pad: 'x'.repeat(Number(pad)) }) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    produced,
    url: (machine, component, padBytes = 0) =>
      `http://127.0.0.1:${port}/${encodeURIComponent(machine)}/${encodeURIComponent(component)}/${padBytes}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
