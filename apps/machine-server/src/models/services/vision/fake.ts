/**
 * `core:builtin:fake`: a vision service that sees the same objects in every image, and whose camera images are gray.
 *
 * Attributes: `detections` (list of `{class_name, confidence, x_min, y_min, x_max, y_max}`), `classifications` (list of `{class_name,
 * confidence}`), `detections_3d` (list of `{class_name, confidence, x, y, z, size_mm}`): cubes with sides of `size_mm` (default 100) whose
 * centers are at these mm in the frame of the camera; `camera_name`, the camera for requests without one; a camera must be among
 * `depends_on`. See fake-model.ts for `errors` and `delays_ms`.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Clock, invalidValue } from '@platform/base';
import { GeometrySchema, PoseSchema, RectangularPrismSchema } from '@platform/proto/platform/common/v1/common';
import type { Detection3DSchema } from '@platform/proto/platform/service/vision/v1/vision';
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
  detections_3d: { kind: 'list' },
  camera_name: { kind: 'string' },
} as const;

export const createFakeVision: (clock: Clock) => Model = fakeModel<Vision, typeof fields>({
  type: vision,
  fields,
  make({ detections: detectionList = [], classifications: classList = [], detections_3d: cubeList = [], ...rest }) {
    const { camera_name: camera } = rest;
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
    const cubes = cubeList.map((each, at) => cube(each, `detections_3d[${at}]`));
    const seenFrom = (cameraName: string) => cubes.map((make) => make(cameraName || (camera ?? '')));
    const best = (n: number) => classifications.slice(0, n > 0 ? n : undefined);
    return {
      getDetections: async () => ({ detections }),
      getDetectionsFromCamera: async () => ({ detections }),
      getClassifications: async ({ n }) => ({ classifications: best(n) }),
      getClassificationsFromCamera: async ({ n }) => ({ classifications: best(n) }),
      getObjectPointClouds: async () => ({ mimeType: 'pointcloud/pcd', objects: [] }),
      getDetections3D: async ({ cameraName }) => ({ detections3d: seenFrom(cameraName) }),
      captureAllFromCamera: async ({ returnImage, returnClassifications, returnDetections, ...request }) => ({
        ...(returnImage && { image: { image: gray, mimeType: 'image/png', sourceName: camera ?? '' } }),
        ...(returnDetections && { detections }),
        ...(returnClassifications && { classifications }),
        ...(request.returnDetections3d && { detections3d: seenFrom(request.cameraName) }),
      }),
      getProperties: async () => ({
        ...{ classificationsSupported: true, detectionsSupported: true, objectPointCloudsSupported: true },
        detections3dSupported: true,
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

/** @returns the object in the frame of a camera */
function cube(each: unknown, path: string): (camera: string) => MessageInitShape<typeof Detection3DSchema> {
  const classification = classified(each, path);
  const given = each as Readonly<Record<string, unknown>>;
  const lengthOf = (key: string, otherwise: number): number => {
    const length = given[key] ?? otherwise;
    if (typeof length === 'number') return length;
    throw invalidValue(`attributes.${path}.${key}`, 'a number of mm', length);
  };
  const pose = create(PoseSchema, { x: lengthOf('x', 0), y: lengthOf('y', 0), z: lengthOf('z', 0), oZ: 1 });
  const side = lengthOf('size_mm', 100);
  const box = create(RectangularPrismSchema, { dimsMm: { x: side, y: side, z: side } });
  const geometryType = { case: 'box', value: box } as const;
  const { className: label } = classification;
  const physicalObject = create(GeometrySchema, { center: { oZ: 1 }, geometryType, label });
  return (referenceFrame) => ({
    transforms: [{ referenceFrame: path, poseInObserverFrame: { referenceFrame, pose }, physicalObject }],
    classifications: [classification],
  });
}
