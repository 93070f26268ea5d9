import { PlatformError } from '@platform/base';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import type { Document } from '../resource.ts';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType } from '../service-type.ts';

/** A computer or controller with pins. */
export type Board = ServiceResource<typeof BoardService>;

export const board: ResourceDescriptor<Board, typeof BoardService> = serviceType({
  api: 'core:component:board',
  service: BoardService,
  nameFields: ['name', 'board_name'],
  captures: {
    Analogs: answerCapture(BoardService.method.readAnalogReader, (params) => ({
      analogReaderName: textOf(params, 'reader_name'),
    })),
    Gpios: answerCapture(BoardService.method.getGPIO, (params) => ({ pin: textOf(params, 'pin_name') })),
  },
});

function textOf(params: Document, key: string): string {
  const found = params[key];
  if (typeof found === 'string' && found !== '') return found;
  const text = `expected a name in additional_params.${key}, found ${JSON.stringify(found) ?? 'none'}`;
  throw new PlatformError('invalid_argument', text);
}
