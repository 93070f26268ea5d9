/** The status of a machine's resources, live. */
import { fromJson } from '@bufbuild/protobuf';
import { type GetMachineStatusResponse, GetMachineStatusResponseSchema } from '@platform/proto/platform/robot/v1/robot';
import { answersTo } from '../api/answers.svelte.ts';
import type { Polled } from '../api/poll.svelte.ts';

const method = 'platform.robot.v1.RobotService/GetMachineStatus';

/** Call it while a component is being created; it stops when the component is destroyed. @param partId empty: no call is made */
export function machineStatus(partId: () => string): Polled<GetMachineStatusResponse> {
  return answersTo(
    () => (partId() === '' ? undefined : { partId: partId(), method }),
    (answer) => fromJson(GetMachineStatusResponseSchema, answer, { ignoreUnknownFields: true }),
  );
}
