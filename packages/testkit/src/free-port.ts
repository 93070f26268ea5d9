/** A port for a server that stops and restarts on the same one. */
import { createServer } from 'node:net';

/** Below the ports that systems assign automatically (Linux: from 32,768), so that the port is not taken while the server is down. */
const [firstPort, portsOfEach, processes] = [11_000, 1_000, 20];
let turn = process.pid;

/** A port of 127.0.0.1 that no other concurrent test gets. */
export async function freePort(): Promise<number> {
  const pool = Number(process.env['VITEST_POOL_ID'] ?? 0) % processes;
  for (;;) {
    const port = firstPort + pool * portsOfEach + (turn++ % portsOfEach);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
