/**
 * `core:builtin:image_file`: image files on this computer, in turn.
 *
 * Attributes: `path` (required): an image file, or a folder whose images are returned in turn, by name, repeatedly. Files with the
 * extensions of JPEG, PNG, WebP and GIF count as images. `max_frame_bytes` (default 8,388,608): a larger file is an error.
 */
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Clock, createLimiter, fileTurns, invalidArgument, notFound, openRegular } from '@platform/base';
import type { Camera } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { deviceError } from '../../../hardware/device-error.ts';
import { readAttributes, required } from '../../attributes.ts';
import { cameraOf, type Frame, streamFields } from './stream-camera.ts';

const fields = { path: { kind: 'string' }, max_frame_bytes: streamFields.max_frame_bytes } as const;

const mimeTypes: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
};

export const createImageFileCamera = (clock: Clock): Model => ({
  api: 'core:component:camera',
  model: 'core:builtin:image_file',
  fields,
  async build({ attributes }): Promise<Camera> {
    const given = readAttributes(fields, attributes);
    const path = required(given.path, 'path', 'an image file or a folder');
    const { max_frame_bytes: maxBytes } = given;
    await imagesOf(path);
    /** The name of the last one; the next one is the first that sorts after it. */
    let last = '';
    const next = async (): Promise<Frame> => {
      const images = await imagesOf(path);
      last = images.find((each) => each > last) ?? images[0] ?? '';
      return await readImage(last, maxBytes, clock);
    };
    const inTurn = createLimiter(1);
    return cameraOf(
      () => inTurn(next),
      [...new Set(Object.values(mimeTypes))],
      async () => {},
    );
  },
});

function typeOf(path: string): string | undefined {
  return mimeTypes[extname(path).toLowerCase()];
}

/** The paths, sorted. @throws not_found if there are none */
async function imagesOf(path: string): Promise<readonly string[]> {
  const expected = `expected images (${Object.keys(mimeTypes).join(', ')})`;
  try {
    if (!(await fileTurns.run(path, () => stat(path))).isDirectory()) {
      if (typeOf(path) !== undefined) return [path];
      throw invalidArgument(`${path}: ${expected}, found another file`);
    }
    const images = (await fileTurns.run(path, () => readdir(path))).filter((name) => typeOf(name) !== undefined);
    if (images.length > 0) return images.map((name) => join(path, name)).toSorted();
  } catch (caught) {
    throw await deviceError(path, caught, { ENOENT: 'correct attributes.path' });
  }
  throw notFound(`${path}: ${expected}, found a folder without any`);
}

async function readImage(path: string, maxBytes: number, clock: Clock): Promise<Frame> {
  try {
    await using file = await openRegular(path, { followsLinks: true });
    const image = await file.readAll({ maxBytes, limitName: 'max_frame_bytes' });
    return { image, mimeType: typeOf(path) ?? '', atMs: Math.min(Number(file.stats.mtimeMs), clock.now()) };
  } catch (caught) {
    throw await deviceError(path, caught);
  }
}
