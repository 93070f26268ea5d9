/** The process of one attacker: sends each request that a line of standard input describes, and says what came back. */
import { request as requestHttp1 } from 'node:http';
import { connect } from 'node:http2';
import { createInterface } from 'node:readline';
import { type Attack, gatherMethods } from './attack.ts';
import { codecs } from './codecs.ts';
import { jsonShapes, shapes } from './shapes.ts';

/** A request that takes longer is a failure of the run. */
const mostMs = 120_000;
/** How the server may end a request whose rest it does not want, before the attacker has read the answer. */
const cut = /ECONNRESET|EPIPE|ECONNABORTED|ERR_HTTP2_(STREAM|SESSION)_ERROR|ERR_HTTP2_STREAM_CANCEL/;
const methods = gatherMethods();

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const attack = JSON.parse(line) as Attack;
    const body = bodyOf(attack);
    // Standard output carries answers only.
    if (body === undefined) return answer({ skipped: true });
    answer({ bytes: body.length, ready: true });
    const startedMs = performance.now();
    const outcome = await send(attack, body).catch((caught: unknown) => {
      const code = String(Reflect.get(Object(caught), 'code'));
      return cut.test(code) ? 'cut' : `failed: ${String(caught)}`;
    });
    answer({ bytes: body.length, outcome, ms: performance.now() - startedMs });
  })
  .on('close', () => process.exit());

function answer(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function bodyOf({ method, shape, codec: name, bytes }: Attack): Buffer | undefined {
  const codec = codecs[name];
  const input = methods.get(method)?.input;
  if (codec === undefined || input === undefined) return undefined;
  const message = codec.isJson ? jsonShapes[shape]?.(bytes) : shapes[shape]?.(input, bytes);
  return message && codec.body(message);
}

/** @returns the status of gRPC or HTTP */
function send({ url, method, path = `/${method}`, codec: name, headers: more }: Attack, body: Buffer): Promise<string> {
  const { headers: own, http } = codecs[name] ?? { headers: {}, http: 2 };
  const headers = { ...own, ...more, 'content-length': String(body.length) };
  const timeout = AbortSignal.timeout(mostMs);
  if (http === 1)
    return new Promise((resolve, reject) => {
      const sent = requestHttp1(`${url}${path}`, { method: 'POST', headers, signal: timeout }, (response) => {
        response.resume().on('error', reject);
        response.on('end', () => resolve(`${response.trailers['grpc-status'] ?? response.statusCode}`));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return new Promise((resolve, reject) => {
    const session = connect(url);
    const fail = (error: Error): void => {
      session.destroy();
      reject(error);
    };
    session.on('error', fail);
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers }, { signal: timeout });
    let status = '';
    const note = (found: Readonly<Record<string, unknown>>): void => {
      status = String(found['grpc-status'] ?? found[':status'] ?? status);
    };
    stream.on('response', note).on('trailers', note).resume();
    stream.on('error', (error) => (status === '' ? fail(error) : undefined));
    // A refusal comes before the server has read the request, whose rest Node would keep, and the stream open.
    const finish = (): void => {
      session.destroy();
      resolve(status === '' ? 'cut' : status);
    };
    stream.on('end', finish).on('close', finish);
    stream.end(body);
  });
}
