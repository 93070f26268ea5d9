/** Downloads a file and verifies its checksum. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { dataLoss, resourceExhausted, unavailable } from '@platform/base';
import { checkServerIdentity } from '@platform/rpc/client';

export interface DownloadOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM certificates to trust instead of the system's. */
  readonly ca: string | undefined;
  /** SHA-256 of the content in hexadecimal. */
  readonly checksum: string;
  /** The path to write. */
  readonly path: string;
  readonly signal: AbortSignal;
}

const maxBytes = 16 * 1024 ** 3;
/** A download without data for this long is abandoned. */
const quietMs = 60_000;

/** @throws unavailable if it cannot be fetched, data_loss if the checksum differs */
export async function download({ url, headers, ca, checksum, path, signal }: DownloadOptions): Promise<void> {
  const answer = await open(url, headers, ca, signal);
  if (answer.statusCode !== 200) {
    answer.resume();
    throw unavailable(`expected status 200 of ${shown(url)}, found ${answer.statusCode}`);
  }
  const hash = createHash('sha256');
  let bytes = 0;
  const checked = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw resourceExhausted(`expected at most ${maxBytes} bytes from ${shown(url)}, found more`);
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(answer, checked, createWriteStream(path, { mode: 0o600 }), { signal });
  const found = hash.digest('hex');
  if (found !== checksum)
    throw dataLoss(`expected the file with SHA-256 ${checksum} from ${shown(url)}, found ${found}`);
}

function open(
  url: string,
  headers: Readonly<Record<string, string>>,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const options = { headers, signal, timeout: quietMs, checkServerIdentity, ...(ca !== undefined && { ca }) };
    const sent = request(url, options, resolve);
    sent.on('timeout', () => sent.destroy(new Error(`no answer for ${quietMs} ms`)));
    sent.on('error', (error) => reject(unavailable(`${shown(url)} cannot be reached: ${error.message}`, error)));
    sent.end();
  });
}

/** The address without its query, which may contain a signature. */
function shown(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
