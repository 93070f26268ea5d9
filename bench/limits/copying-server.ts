/** A thread that writes the data arriving on its port to a file and syncs it. */
import { createWriteStream } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { parentPort, workerData } from 'node:worker_threads';

const server = createServer(async (socket) => {
  await pipeline(socket, createWriteStream(workerData.path, { flush: true, highWaterMark: 1024 * 1024 }));
  parentPort?.postMessage('copied');
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
