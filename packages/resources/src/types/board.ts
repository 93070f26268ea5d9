import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { requiredText } from '../params.ts';
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
      analogReaderName: requiredText(params['reader_name'], 'reader_name'),
    })),
    Gpios: answerCapture(BoardService.method.getGPIO, (params) => ({
      pin: requiredText(params['pin_name'], 'pin_name'),
    })),
  },
});
