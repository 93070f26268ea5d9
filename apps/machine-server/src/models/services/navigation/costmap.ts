/** The costmap of a fake navigation service: the free square around the base. Pure. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { invalidValue } from '@platform/base';
import type {
  GetCostmapRequest,
  GetCostmapResponseSchema,
  Position,
} from '@platform/proto/platform/service/navigation/v1/navigation';

const sideM = 4;
const cellM = 0.05;
const defaultStride = 2;
/** At most as many as the square has in a row: one cell is left. */
const mostStride = sideM / cellM;

export function freeCostmap(
  { layer, stride }: Pick<GetCostmapRequest, 'layer' | 'stride'>,
  { value }: Position,
): MessageInitShape<typeof GetCostmapResponseSchema> {
  if (!['', 'auto', 'local', 'global'].includes(layer))
    throw invalidValue('layer', '"auto", "local" or "global"', layer);
  const step = Math.min(stride || defaultStride, mostStride);
  const cells = Math.ceil(mostStride / step);
  // On the globe the frame of the map begins where the base is.
  const [x, y] = value.case === 'pose' ? [value.value.x / 1_000, value.value.y / 1_000] : [0, 0];
  return {
    ...{ available: true, layer: layer || 'auto', navBackend: 'fake' },
    ...{ originX: x - sideM / 2, originY: y - sideM / 2, resolution: cellM * step },
    ...{ width: cells, height: cells, encoding: 'uint8_row_major', data: new Uint8Array(cells * cells) },
  };
}
