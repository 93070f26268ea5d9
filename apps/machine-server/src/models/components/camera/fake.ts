/**
 * `core:builtin:fake`: a camera with a test picture: color gradients, and a white column that moves with each picture.
 *
 * Attributes: `width_px` (default 320) and `height_px` (240); `sources` (list of names, default ["color"]): each gives a picture;
 * `frame_rate` (default 10), as reported in its properties. See fake-model.ts for `errors` and `delays_ms`.
 */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidValue } from '@platform/base';
import { type Camera, camera } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { stringsOf } from '../../attributes.ts';
import { fakeModel } from '../../fake/fake-model.ts';
import { encodePng } from './png.ts';

const fields = {
  width_px: { kind: 'int', default: 320, min: 1, max: 4_096 },
  height_px: { kind: 'int', default: 240, min: 1, max: 4_096 },
  sources: { kind: 'list' },
  frame_rate: { kind: 'float', default: 10, min: 0 },
} as const;

const mimeType = 'image/png';

export const createFakeCamera: (clock: Clock) => Model = fakeModel<Camera, typeof fields>({
  type: camera,
  fields,
  make({ width_px: width, height_px: height, sources: given = ['color'], frame_rate: frameRate }, clock) {
    const sources = stringsOf(given, 'sources');
    let taken = 0;
    return {
      async getImages({ filterSourceNames }) {
        const unknown = filterSourceNames.find((name) => !sources.includes(name));
        if (unknown !== undefined) throw invalidValue('filter_source_names', `some of ${sources.join(', ')}`, unknown);
        const image = encodePng(width, height, picture(width, height, taken++));
        const wanted = filterSourceNames.length === 0 ? sources : filterSourceNames;
        return {
          images: wanted.map((sourceName) => ({ sourceName, image, mimeType })),
          responseMetadata: { capturedAt: timestampFromMs(clock.now()) },
        };
      },
      getPointCloud: async () => ({ mimeType: 'pointcloud/pcd', pointCloud: new TextEncoder().encode(pointCloud) }),
      getProperties: async () => ({
        supportsPcd: true,
        mimeTypes: [mimeType],
        frameRate,
        intrinsicParameters: {
          ...{ widthPx: width, heightPx: height, focalXPx: width, focalYPx: width },
          ...{ centerXPx: width / 2, centerYPx: height / 2 },
        },
      }),
      getStatus: async () => ({ result: { pictures: taken } }),
    };
  },
});

/** Red grows to the right, green downward; blue is constant. */
function picture(width: number, height: number, number: number): Uint8Array {
  const pixels = new Uint8Array(3 * width * height);
  const white = number % width;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isWhite = x === white;
      pixels[at++] = isWhite ? 255 : (255 * x) / width;
      pixels[at++] = isWhite ? 255 : (255 * y) / height;
      pixels[at++] = isWhite ? 255 : 128;
    }
  }
  return pixels;
}

/** Four points at the corners of a square of 1 m, 1 m ahead. */
const pointCloud = `VERSION .7
FIELDS x y z
SIZE 4 4 4
TYPE F F F
COUNT 1 1 1
WIDTH 4
HEIGHT 1
VIEWPOINT 0 0 0 1 0 0 0
POINTS 4
DATA ascii
-0.5 -0.5 1
0.5 -0.5 1
-0.5 0.5 1
0.5 0.5 1
`;
