/**
 * `core:builtin:ffmpeg`: any source that an installed ffmpeg can read: a V4L2 device, an RTSP or HTTP address, a file.
 *
 * Attributes: `input` (required; such as `/dev/video0` or `rtsp://10.0.0.9/main`); `frame_rate` (default 10 images per second); `quality`
 * (2, the best, to 31; default 5); `filters` (a filter graph of ffmpeg, such as `scale=640:-1`), `input_args` (list of arguments before the
 * input) and `ffmpeg_path` (default `ffmpeg`, from PATH), which are refused with `-untrusted-env`; `timeout_ms` (default 15,000): the
 * longest wait for the first image; `max_age_ms` (default 10,000; 0: any age): an older image is an error; `max_frame_bytes` (default
 * 8,388,608).
 *
 * ffmpeg runs as long as the camera. When it ends, or gives no image for 30 s, it is restarted after delays that increase from 1 s to 1 min.
 */
import { type Clock, type Log, notFound, PlatformError, unavailable } from '@platform/base';
import type { Camera } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { nameOf } from '../../../hardware/fetch-text.ts';
import { keepRunning } from '../../../hardware/keep-running.ts';
import { type Program, startProgram } from '../../../hardware/start-program.ts';
import { readAttributes, required, stringsOf, type ValuesOf } from '../../attributes.ts';
import { refuseIfUntrusted, type Trust } from '../../untrusted.ts';
import { cameraOf, createFrameStream, type FrameStream, streamFields } from './stream-camera.ts';

const fields = {
  ...streamFields,
  input: { kind: 'string' },
  frame_rate: { kind: 'float', default: 10, min: 0.01, max: 120 },
  quality: { kind: 'int', default: 5, min: 2, max: 31 },
  filters: { kind: 'string' },
  input_args: { kind: 'list' },
  ffmpeg_path: { kind: 'string' },
} as const;

const stallMs = 30_000;

export const createFfmpegCamera = (clock: Clock, trust: Trust): Model => ({
  api: 'core:component:camera',
  model: 'core:builtin:ffmpeg',
  fields,
  async build({ attributes }, { log }): Promise<Camera> {
    const given = readAttributes(fields, attributes);
    const input = required(given.input, 'input', 'a device, an address or a file');
    for (const key of ['filters', 'input_args', 'ffmpeg_path'] as const)
      if (given[key] !== undefined) refuseIfUntrusted(trust, `attributes.${key}`);
    const name = URL.canParse(input) ? nameOf(new URL(input)) : input;
    const stream = createFrameStream(name, given, clock);
    const command = given.ffmpeg_path ?? 'ffmpeg';
    const args = argumentsOf(input, given);
    let lastError = '';
    const onErrorLine = (line: string): void => {
      lastError = line.replaceAll(input, name);
      log.debug(`${name}: ffmpeg: ${lastError}`);
    };
    const keeper = await keepRunning({
      ...{ name: `ffmpeg of ${name}`, clock, log },
      start: () => startWatched({ command, args, name, stream, onErrorLine, clock, log }),
      onEnd: (text) =>
        stream.newest.fail(
          unavailable(`${name}: ffmpeg ended with ${text}: ${lastError || 'it wrote no error'}; restarting it`),
        ),
    });
    const close = async (): Promise<void> => {
      stream.newest.fail(unavailable(`${name}: this camera was closed`));
      await keeper[Symbol.asyncDispose]();
    };
    return cameraOf(() => stream.newest.read(), ['image/jpeg'], close);
  },
});

function argumentsOf(input: string, given: ValuesOf<typeof fields>): string[] {
  const own = stringsOf(given.input_args ?? [], 'input_args');
  const isRtsp = /^rtsps?:/.test(input);
  return [
    ...['-hide_banner', '-loglevel', 'error', '-nostdin'],
    ...(input.startsWith('/dev/video') && !own.includes('-f') ? ['-f', 'v4l2'] : []),
    // Packets lost over UDP damage images.
    ...(isRtsp && !own.includes('-rtsp_transport') ? ['-rtsp_transport', 'tcp'] : []),
    ...own,
    ...['-i', input, '-an'],
    ...(given.filters === undefined ? [] : ['-vf', given.filters]),
    ...['-r', String(given.frame_rate), '-c:v', 'mjpeg', '-q:v', String(given.quality), '-f', 'image2pipe', 'pipe:1'],
  ];
}

interface WatchedOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly name: string;
  readonly stream: FrameStream;
  readonly onErrorLine: (line: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Ends ffmpeg when no data arrives any longer, because it waits for a silent source without a limit. */
async function startWatched({
  command,
  args,
  name,
  stream,
  onErrorLine,
  clock,
  log,
}: WatchedOptions): Promise<Program> {
  const frames = stream.frames();
  let isSilent = true;
  const onOutput = (chunk: Uint8Array): void => {
    isSilent = false;
    frames.push(chunk);
  };
  const program = await startProgram({ command, args, onOutput, onErrorLine, clock }).catch((caught: unknown) => {
    if (!(caught instanceof PlatformError) || caught.code !== 'not_found') throw caught;
    throw notFound(
      `${name}: this camera needs ffmpeg, and ${command} could not be started; install it (on Debian: apt install ffmpeg), or set ffmpeg_path`,
      caught,
    );
  });
  const watch = clock.every(stallMs, () => {
    if (isSilent) {
      log.warn(`${name}: no image for ${stallMs / 1_000} s; ffmpeg is ended`);
      void program[Symbol.asyncDispose]();
    }
    isSilent = true;
  });
  void program.ended.then(() => watch[Symbol.dispose]());
  return program;
}
