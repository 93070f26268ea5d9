import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { errorText, systemClock } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { CameraService } from '@platform/proto/platform/component/camera/v1/camera';
import type { Client } from '@platform/rpc/client';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { Model } from '../../../graph/model.ts';
import { buildModel, clientOf } from '../../../testing/build-model.ts';
import { serveHttp } from '../../../testing/serve-http.ts';
import { until } from '../../../testing/start-test-server.ts';
import { createFfmpegCamera } from './ffmpeg.ts';
import { createImageFileCamera } from './image-file.ts';
import { createMjpegCamera } from './mjpeg.ts';

const trusted = { untrusted: false };

async function build(model: Model, attributes: JsonObject): Promise<Client<typeof CameraService>> {
  return clientOf(CameraService, await buildModel(model, attributes));
}

async function imageOf(camera: Client<typeof CameraService>): Promise<number[]> {
  const { images } = await camera.getImages({});
  return [...(images[0]?.image ?? [])];
}

async function errorOf(camera: Client<typeof CameraService>): Promise<string> {
  try {
    await camera.getImages({});
    return '';
  } catch (caught) {
    return errorText(caught);
  }
}

/** The structure of a JPEG image, with a smaller one inside; `n` distinguishes them. */
function jpeg(n: number): Buffer {
  const thumbnail = [0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9];
  return Buffer.from([0xff, 0xd8, ...thumbnail, 0xff, 0xda, 0, 3, 1, n, 0xff, 0, 0xff, 0xd3, 9, 0xff, 0xd9]);
}

async function directory() {
  const made = await temporaryDirectory();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

test('image_file returns the images of a folder in turn, with their types', async () => {
  const { path, file } = await directory();
  await writeFile(file('b.png'), 'b');
  await writeFile(file('a.JPG'), 'a');
  await writeFile(file('notes.txt'), 'x');
  const camera = await build(createImageFileCamera(systemClock), { path, max_frame_bytes: 1_024 });
  const types: string[] = [];
  for (let n = 0; n < 3; n++)
    types.push(
      (await camera.getImages({})).images.map(({ image, mimeType }) => `${Buffer.from(image)} ${mimeType}`).join(),
    );
  expect(types).toEqual(['a image/jpeg', 'b image/png', 'a image/jpeg']);
  await writeFile(file('c.gif'), 'c'.repeat(1_025));
  await imageOf(camera);
  expect(await errorOf(camera)).toContain('c.gif: expected at most 1024 bytes (max_frame_bytes), found 1025');
  await rm(path, { recursive: true });
  expect(await errorOf(camera)).toContain('it does not exist');
});

test('image_file tells when its file was written, to the millisecond', async () => {
  const { file } = await directory();
  await writeFile(file('a.png'), 'a');
  await utimes(file('a.png'), 1_700_000_000.123_456, 1_700_000_000.123_456);
  const camera = await build(createImageFileCamera(systemClock), { path: file('a.png') });
  const { responseMetadata } = await camera.getImages({});
  expect(responseMetadata?.capturedAt).toMatchObject({ seconds: 1_700_000_000n, nanos: 123_000_000 });
});

test('image_file reads no pipe and no device: four of them leave the disk to others', async () => {
  const { file } = await directory();
  execFileSync('mkfifo', [file('pipe.png')]);
  // Lets go of the threads of an implementation that waits for the other end.
  using _released = { [Symbol.dispose]: () => void execFileSync('sh', ['-c', `: 1<>${file('pipe.png')}`]) };
  const cameras = await Promise.all(
    Array.from({ length: 4 }, () => build(createImageFileCamera(systemClock), { path: file('pipe.png') })),
  );
  for (const camera of cameras)
    expect(await errorOf(camera)).toContain('pipe.png: expected a regular file, found a pipe');
  expect((await readFile('/proc/self/comm')).length).toBeGreaterThan(0);
  await symlink('/dev/zero', file('zero.png'));
  const endless = await build(createImageFileCamera(systemClock), { path: file('zero.png') });
  expect(await errorOf(endless)).toContain('zero.png: expected a regular file, found a device');
});

test('image_file refuses missing files, and files that are not images', async () => {
  const { path, file } = await directory();
  const model = createImageFileCamera(systemClock);
  await expect(build(model, {})).rejects.toThrow('attributes.path: expected an image file or a folder, found none');
  await expect(build(model, { path: file('no') })).rejects.toThrow('correct attributes.path');
  await mkdir(file('empty'));
  await expect(build(model, { path: file('empty') })).rejects.toThrow('found a folder without any');
  await writeFile(file('x.txt'), '');
  await expect(build(model, { path: `${path}/x.txt` })).rejects.toThrow('found another file');
});

test('mjpeg returns the newest image of a stream, and reopens it when it ends', async () => {
  let connections = 0;
  const seen = Promise.withResolvers<void>();
  const url = await serveHttp((_request, response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=b' });
    const [image, n] = [jpeg(++connections), connections];
    response.write(Buffer.concat([Buffer.from('--b\r\nContent-Type: image/jpeg\r\n\r\n'), image.subarray(0, 9)]));
    response.write(image.subarray(9));
    if (n === 1) void seen.promise.then(() => response.end());
  });
  const camera = await build(createMjpegCamera(systemClock), { url });
  expect(await imageOf(camera)).toEqual([...jpeg(1)]);
  seen.resolve();
  await until('an error', async () =>
    (await errorOf(camera)).includes(`${url}: the device ended the connection; reopening it`),
  );
  await until('the image of the second connection', async () => (await errorOf(camera)) === '');
  expect(await imageOf(camera)).toEqual([...jpeg(2)]);
  await expect(camera.getImages({ filterSourceNames: ['depth'] })).rejects.toThrow('expected color, found "depth"');
});

test('mjpeg: another content type, silence and large images are errors', async () => {
  const model = createMjpegCamera(systemClock);
  const page = await serveHttp((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'));
  await expect(build(model, { url: page })).rejects.toThrow(
    'found the content type text/html; use the address of the stream',
  );
  const silent = await serveHttp(() => {});
  await expect(build(model, { url: silent, timeout_ms: 30 })).rejects.toThrow(
    'expected an answer within 30 ms (timeout_ms)',
  );
  const endless = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=b' });
    response.write(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2]), Buffer.alloc(2_000)]));
  });
  const camera = await build(model, { url: endless, max_frame_bytes: 1_024 });
  await until('the error', async () =>
    (await errorOf(camera)).includes('expected images of at most 1024 bytes (max_frame_bytes)'),
  );
});

/** A program in place of ffmpeg. */
async function fakeFfmpeg(script: string): Promise<string> {
  const { file } = await directory();
  await writeFile(file('ffmpeg'), `#!/bin/sh\n${script}\n`);
  await chmod(file('ffmpeg'), 0o755);
  return file('ffmpeg');
}

test('ffmpeg returns the newest image of a program started with the input; closing ends it', async () => {
  const { file } = await directory();
  await writeFile(file('image'), jpeg(5));
  const ffmpeg_path = await fakeFfmpeg(`echo "$$ $@" > ${file('args')}; cat ${file('image')}; exec sleep 1000`);
  const resource = await buildModel(createFfmpegCamera(systemClock, trusted), {
    ffmpeg_path,
    input: 'rtsp://user:secret@10.0.0.9/main',
    filters: 'hflip',
    frame_rate: 2,
  });
  const camera = clientOf(CameraService, resource);
  expect(await imageOf(camera)).toEqual([...jpeg(5)]);
  const [pid, ...args] = (await readFile(file('args'), 'utf8')).trim().split(' ');
  expect(args.join(' ')).toContain(
    '-rtsp_transport tcp -i rtsp://user:secret@10.0.0.9/main -an -vf hflip -r 2 -c:v mjpeg',
  );
  await resource.close();
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  expect(await errorOf(camera)).toBe('rtsp://10.0.0.9/main: this camera was closed');
});

test('when ffmpeg ends, the error has its last output, and it is restarted', async () => {
  const { file } = await directory();
  await writeFile(file('image'), jpeg(6));
  const ffmpeg_path = await fakeFfmpeg(
    `[ -e ${file('again')} ] && cat ${file('image')} && exec sleep 1000; touch ${file('again')}; echo "$8: no route" >&2; exit 1`,
  );
  const camera = await build(createFfmpegCamera(systemClock, trusted), { ffmpeg_path, input: '/dev/video9' });
  const error = await errorOf(camera);
  expect(error).toBe('/dev/video9: ffmpeg ended with exit code 1: /dev/video9: no route; restarting it');
  await until('the image', async () => (await errorOf(camera)) === '');
  expect(await imageOf(camera)).toEqual([...jpeg(6)]);
});

test('if ffmpeg is not installed, the error says what to install; -untrusted-env refuses custom arguments', async () => {
  const input = '/dev/video0';
  await expect(build(createFfmpegCamera(systemClock, trusted), { input, ffmpeg_path: '/no/ffmpeg' })).rejects.toThrow(
    '/dev/video0: this camera needs ffmpeg, and /no/ffmpeg could not be started; install it (on Debian: apt install ffmpeg)',
  );
  for (const more of [{ ffmpeg_path: 'sh' }, { input_args: ['-x'] }, { filters: 'movie=/etc/x' }]) {
    const [key = ''] = Object.keys(more);
    await expect(build(createFfmpegCamera(systemClock, { untrusted: true }), { input, ...more })).rejects.toThrow(
      `-untrusted-env does not allow attributes.${key}`,
    );
  }
});
