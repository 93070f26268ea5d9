/** A proxy between the cloud and a Postgres server, for tests, that cuts connections on request. */
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';

export interface CuttingProxy extends AsyncDisposable {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** Cuts the next connection that sends COMMIT: before the server receives it, or afterwards, so that only the answer is lost. */
  cutNextCommit(when: 'before' | 'after'): void;
  /** False: refuses new connections and cuts existing ones. True: allows connections again. */
  setOpen(open: boolean): void;
}

/** @param url of a server on a Unix socket, as returned by startPostgres. */
export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const directory = await temporaryDirectory('proxy-');
  const target = join(decodeURIComponent(new URL(url).hostname), '.s.PGSQL.5432');
  const sockets = new Set<Socket>();
  let cut: 'before' | 'after' | null = null;
  let open = true;

  const server = createServer((client) => {
    if (!open) return void client.destroy();
    const upstream = connect(target);
    let mute = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (data) => {
      const commits = cut !== null && data.includes('commit\0');
      if (commits && cut === 'before') {
        cut = null;
        client.destroy();
        return;
      }
      if (commits) {
        cut = null;
        mute = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!mute) client.write(data);
      else if (data.includes('COMMIT\0')) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(directory.file('.s.PGSQL.5432'), resolve));
  return {
    url: url.replace(/@[^/]*\//, `@${encodeURIComponent(directory.path)}/`),
    cutNextCommit(when) {
      cut = when;
    },
    setOpen(value) {
      open = value;
      if (!open) for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await directory[Symbol.asyncDispose]();
    },
  };
}
