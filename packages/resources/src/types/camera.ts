import { create } from '@bufbuild/protobuf';
import { unimplemented } from '@platform/base/portable';
import {
  CameraService,
  GetImagesRequestSchema,
  GetPointCloudRequestSchema,
} from '@platform/proto/platform/component/camera/v1/camera';
import { jsonOf } from '../common-methods.ts';
import { textsOf } from '../params.ts';
import type { Document } from '../resource.ts';
import type { BinaryReading, CaptureContext, ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A source of images and point clouds. */
export type Camera = ServiceResource<typeof CameraService, 'getPointCloud'>;

export const camera: ResourceDescriptor<Camera, typeof CameraService> = serviceType({
  api: 'core:component:camera',
  service: CameraService,
  optional: ['getPointCloud'],
  captures: {
    GetImages: { kind: 'binary', read: readImages },
    // Deprecated: the first image.
    ReadImage: {
      kind: 'binary',
      read: async (resource, params, context) => (await readImages(resource, params, context)).slice(0, 1),
    },
    NextPointCloud: {
      kind: 'binary',
      async read(resource, params, { signal }) {
        const extra = jsonOf({ ...params, fromDataManagement: true });
        const mimeType = 'pointcloud/pcd';
        if (resource.getPointCloud === undefined) throw unimplemented('this model does not have GetPointCloud');
        const answer = await resource.getPointCloud(create(GetPointCloudRequestSchema, { mimeType, extra }), {
          signal,
        });
        return [{ bytes: answer.pointCloud ?? new Uint8Array(), mimeType: answer.mimeType || mimeType }];
      },
    },
  },
});

/** Each image, with the name of its source as a classification, as public machine-servers store it. */
async function readImages(
  resource: Camera,
  { filter_source_names: names, ...params }: Document,
  { signal }: Pick<CaptureContext, 'signal'>,
): Promise<BinaryReading[]> {
  const request = create(GetImagesRequestSchema, {
    filterSourceNames: textsOf(names, 'filter_source_names'),
    extra: jsonOf({ ...params, fromDataManagement: true }),
  });
  const { images = [] } = await resource.getImages(request, { signal });
  return images.map(({ image = new Uint8Array(), mimeType = '', sourceName = '', annotations }) => ({
    bytes: image,
    mimeType,
    annotations: {
      bboxes: annotations?.bboxes ?? [],
      classifications: [...(annotations?.classifications ?? []), ...(sourceName === '' ? [] : [{ label: sourceName }])],
    },
  }));
}
