/** Operations over RPC: list, cancel, wait. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from './authenticate.ts';
import type { Operations } from './operations.ts';

export function operationHandlers(operations: Operations): Handlers<typeof RobotService, Principal> {
  return {
    getOperations: () => ({
      operations: operations.all.map((operation) => {
        const { id, method, startedMs, sessionId } = operation;
        const listed = operation.arguments();
        return {
          ...{ id, method, started: timestampFromMs(startedMs) },
          ...(listed && { arguments: listed }),
          ...(sessionId !== '' && { sessionId }),
        };
      }),
    }),
    cancelOperation({ id }) {
      operations.cancel(id);
    },
    async blockForOperation({ id }, { signal }) {
      await operations.ended(id, signal);
    },
  };
}
