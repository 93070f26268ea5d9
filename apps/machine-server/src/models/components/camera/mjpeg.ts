/**
 * `core:builtin:mjpeg`: the images of an MJPEG stream over HTTP (multipart/x-mixed-replace), as from many network cameras, without ffmpeg.
 *
 * Attributes: `url` (required; http or https), `headers` (object: name → text); `timeout_ms` (default 15,000): the longest wait for the
 * answer, and for the first image; `max_age_ms` (default 10,000; 0: any age): an older image is an error; `max_frame_bytes` (default
 * 8,388,608). A stream that ends, or sends nothing for 30 s, is reopened after delays that increase from 1 s to 1 min.
 */
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { type Clock, deadlineExceeded, failedPrecondition, unavailable } from '@platform/base';
import type { Camera } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fetchAnswer, nameOf, parseUrl } from '../../../hardware/fetch-text.ts';
import type { JpegFrames } from '../../../hardware/jpeg-frames.ts';
import { keepOpen } from '../../../hardware/keep-open.ts';
import { readAttributes, required, textsOf } from '../../attributes.ts';
import { cameraOf, createFrameStream, streamFields } from './stream-camera.ts';

const fields = { ...streamFields, url: { kind: 'string' }, headers: { kind: 'object' } } as const;

const stallMs = 30_000;

export const createMjpegCamera = (clock: Clock): Model => ({
  api: 'core:component:camera',
  model: 'core:builtin:mjpeg',
  fields,
  async build({ attributes }, { log }): Promise<Camera> {
    const given = readAttributes(fields, attributes);
    const url = parseUrl(required(given.url, 'url', 'an address'), 'attributes.url', ['http:', 'https:']);
    const headers = textsOf(given.headers, 'headers');
    const name = nameOf(url);
    const stream = createFrameStream(name, given, clock);
    let frames: JpegFrames = stream.frames();
    const open = async (): Promise<Readable> => {
      frames = stream.frames();
      return await openStream(url, headers, given.timeout_ms, clock);
    };
    const keeper = await keepOpen({
      ...{ name, open, stallMs, clock, log },
      onChunk: (chunk) => frames.push(chunk),
      onEnd: (text) => stream.newest.fail(unavailable(`${name}: ${text}; reopening it`)),
    });
    const close = async (): Promise<void> => {
      stream.newest.fail(unavailable(`${name}: this camera was closed`));
      await keeper[Symbol.asyncDispose]();
    };
    return cameraOf(() => stream.newest.read(), ['image/jpeg'], close);
  },
});

async function openStream(
  url: URL,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
  clock: Clock,
): Promise<Readable> {
  const limit = new AbortController();
  const late = deadlineExceeded(`${nameOf(url)}: expected an answer within ${timeoutMs} ms (timeout_ms)`);
  using _timer = clock.after(timeoutMs, () => limit.abort(late));
  const answer = await fetchAnswer({ url, headers, signal: limit.signal });
  const type = answer.headers.get('content-type') ?? 'none';
  if (answer.body !== null && type.startsWith('multipart/')) return Readable.fromWeb(answer.body as ReadableStream);
  await answer.body?.cancel();
  throw failedPrecondition(
    `${nameOf(url)}: expected an MJPEG stream (multipart/x-mixed-replace), found the content type ${type}; use the address of the stream, not that of a page or a single image`,
  );
}
