/** Tells a client that speaks plaintext to a TLS port what is wrong, in the client's protocol. */
import type { Socket } from 'node:net';

const sentence = 'This port speaks TLS only: use https:// instead of http://.';
const http2Preface = Buffer.from('PRI * HTTP/2.0');

/** @param seen the first bytes. Ends the connection. */
export function refusePlaintext(socket: Socket, seen: Buffer): void {
  socket.on('error', () => {});
  socket.end(seen.subarray(0, http2Preface.length).equals(http2Preface) ? http2Refusal() : http1Refusal());
  // Unread data from the client would turn the end into a reset before the client has read the answer.
  socket.resume();
}

function http1Refusal(): string {
  return [
    'HTTP/1.1 400 Bad Request',
    'content-type: text/plain; charset=utf-8',
    `content-length: ${sentence.length + 1}`,
    'connection: close',
    '',
    `${sentence}\n`,
  ].join('\r\n');
}

/** Empty SETTINGS, then GOAWAY with INADEQUATE_SECURITY (RFC 9113 §6.8, §7) and the message. */
function http2Refusal(): Buffer {
  const inadequateSecurity = 0xc;
  const goAway = Buffer.alloc(8);
  goAway.writeUInt32BE(inadequateSecurity, 4);
  return Buffer.concat([frame(4, Buffer.alloc(0)), frame(7, Buffer.concat([goAway, Buffer.from(sentence)]))]);
}

function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  return Buffer.concat([head, payload]);
}
