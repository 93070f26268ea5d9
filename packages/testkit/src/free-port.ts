/** A port for a server that ends and starts again at the same one. */
import { createServer } from 'node:net';

/** Below the ports that systems give out by themselves (Linux: from 32,768), so that no one is given it while the server is away. */
const [firstPort, portsOfEach, processes] = [11_000, 1_000, 20];
let turn = process.pid;

/** Of 127.0.0.1; no other test that runs at the same time is given it. */
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
