/** A program on the computer of a machine that sends bytes to whoever connects, as fast as they are taken. Reports its port. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

const piece = Buffer.alloc(256 * 1024, 1);

function flood(socket: Socket): void {
  const send = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('error', () => {});
  socket.on('drain', send);
  send();
}

const server = createServer(flood);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;
process.stdout.write(`${JSON.stringify({ event: 'listening', port })}\n`);
process.stdin.resume().on('end', () => process.exit(0));
