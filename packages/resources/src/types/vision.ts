import { create } from '@bufbuild/protobuf';
import { unavailable, unimplemented } from '@platform/base/portable';
import {
  CaptureAllFromCameraRequestSchema,
  type CaptureAllFromCameraResponse,
  VisionService,
} from '@platform/proto/platform/service/vision/v1/vision';
import { jsonOf } from '../common-methods.ts';
import { imageSize } from '../image-size.ts';
import { numberOf, requiredText } from '../params.ts';
import type { BinaryCapture, BinaryReading, ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Detections, classifications and objects in images. */
export type Vision = ServiceResource<typeof VisionService, 'getDetections3D'>;

type Seen = Partial<Pick<CaptureAllFromCameraResponse, 'image' | 'detections' | 'classifications'>>;

const defaultMinConfidence = 0.5;

/**
 * The image of `camera_name`, annotated with its classifications, and its detections as boxes. Those below `min_confidence_score` (default
 * 0.5) are omitted.
 */
const captureAll: BinaryCapture<Vision> = {
  kind: 'binary',
  async read(resource, { camera_name: cameraName, min_confidence_score: least, ...params }, { signal }) {
    const request = create(CaptureAllFromCameraRequestSchema, {
      cameraName: requiredText(cameraName, 'camera_name'),
      ...{ returnImage: true, returnDetections: true, returnClassifications: true },
      extra: jsonOf({ ...params, fromDataManagement: true }),
    });
    const minConfidence = numberOf(least, 'min_confidence_score', defaultMinConfidence);
    return [annotated((await resource.captureAllFromCamera(request, { signal })) as Seen, minConfidence)];
  },
};

function annotated({ image, detections = [], classifications = [] }: Seen, minConfidence: number): BinaryReading {
  if (image === undefined) throw unavailable('the vision service returned no image');
  const size = imageSize(image.image);
  const isSure = ({ confidence }: { readonly confidence: number }): boolean => confidence >= minConfidence;
  const bboxes = detections.filter(isSure).map((found) => {
    const share = (normalized: number | undefined, pixels: bigint | undefined, whole = 0): number => {
      if (normalized !== undefined) return normalized;
      if (whole > 0) return Math.min(1, Math.max(0, Number(pixels ?? 0n) / whole));
      throw unimplemented(`the place of ${found.className} in an image of ${image.mimeType}`);
    };
    return {
      label: found.className,
      confidence: found.confidence,
      xMinNormalized: share(found.xMinNormalized, found.xMin, size?.width),
      yMinNormalized: share(found.yMinNormalized, found.yMin, size?.height),
      xMaxNormalized: share(found.xMaxNormalized, found.xMax, size?.width),
      yMaxNormalized: share(found.yMaxNormalized, found.yMax, size?.height),
    };
  });
  const labels = classifications.filter(isSure).map(({ className, confidence }) => ({ label: className, confidence }));
  return { bytes: image.image, mimeType: image.mimeType, annotations: { bboxes, classifications: labels } };
}

export const vision: ResourceDescriptor<Vision, typeof VisionService> = serviceType({
  api: 'core:service:vision',
  service: VisionService,
  optional: ['getDetections3D'],
  captures: { CaptureAllFromCamera: captureAll },
});
