/**
 * `core:builtin:fake`: a vision service that sees the same objects in every image, and whose camera images are gray.
 *
 * Attributes: `detections` (list of `{class_name, confidence, x_min, y_min, x_max, y_max}`), `classifications` (list of `{class_name,
 * confidence}`), `camera_name`, the camera for requests without one; a camera must be among `depends_on`. See fake-model.ts for `errors`
 * and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import { type Vision, vision } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { encodePng } from '../../components/camera/png.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const width = 320;
const height = 240;
const gray = encodePng(width, height, new Uint8Array(3 * width * height).fill(128));

const fields = {
  detections: { kind: 'list' },
  classifications: { kind: 'list' },
  camera_name: { kind: 'string' },
} as const;

export const createFakeVision: (clock: Clock) => Model = fakeModel<Vision, typeof fields>({
  type: vision,
  fields,
  make({ detections: detectionList = [], classifications: classList = [], camera_name: camera }) {
    const detections = detectionList.map((each, at) => {
      const { x_min: xMin, y_min: yMin, x_max: xMax, y_max: yMax } = each as Readonly<Record<string, unknown>>;
      const corners = Object.fromEntries(
        Object.entries({ xMin, yMin, xMax, yMax }).flatMap(([key, value]) =>
          typeof value === 'number' ? [[key, BigInt(Math.round(value))]] : [],
        ),
      );
      return { ...classified(each, `detections[${at}]`), ...corners };
    });
    const classifications = classList
      .map((each, at) => classified(each, `classifications[${at}]`))
      .toSorted((a, b) => b.confidence - a.confidence);
    const best = (n: number) => classifications.slice(0, n > 0 ? n : undefined);
    return {
      getDetections: async () => ({ detections }),
      getDetectionsFromCamera: async () => ({ detections }),
      getClassifications: async ({ n }) => ({ classifications: best(n) }),
      getClassificationsFromCamera: async ({ n }) => ({ classifications: best(n) }),
      getObjectPointClouds: async () => ({ mimeType: 'pointcloud/pcd', objects: [] }),
      captureAllFromCamera: async ({ returnImage, returnClassifications, returnDetections }) => ({
        ...(returnImage && { image: { image: gray, mimeType: 'image/png', sourceName: camera ?? '' } }),
        ...(returnDetections && { detections }),
        ...(returnClassifications && { classifications }),
      }),
      getProperties: async () => ({
        ...{ classificationsSupported: true, detectionsSupported: true, objectPointCloudsSupported: true },
        ...(camera !== undefined && { defaultCamera: camera }),
      }),
    };
  },
});

function classified(each: unknown, path: string): { className: string; confidence: number } {
  const { class_name: className, confidence = 1 } = (each ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof className === 'string' && typeof confidence === 'number') return { className, confidence };
  throw invalidValue(`attributes.${path}`, 'an object with class_name and confidence', each);
}
