/** What we leave out of the public API, with the reason. `docs/specs/public-api.md` tells it to readers. */
import type { Omission } from './compare.ts';

const outOfScope =
  'training, inference, maps, pipelines, builds of modules, accounts of end users and the agent are out of scope';
const notATypeHere = 'the specification does not list this type';
const ofPublicLibraries = 'for tests and examples of the public libraries';

export const omissions: readonly Omission[] = [
  ...[
    'viam.app.agent.v1',
    'viam.app.build.v1',
    'viam.app.cloudslam.v1',
    'viam.app.datapipelines.v1',
    'viam.app.mlinference.v1',
    'viam.app.mltraining.v1.MLTrainingService',
    'viam.app.v1.EndUserService',
  ].map((name) => ({ name, reason: outOfScope })),
  ...[
    'viam.component.posetracker.v1',
    'viam.service.mlmodel.v1',
    'viam.service.sensors.v1',
    'viam.service.slam.v1',
    'viam.service.video.v1',
    'viam.service.worldstatestore.v1',
    'viam.provisioning.v1',
    'proto.stream.v1',
  ].map((name) => ({ name, reason: notATypeHere })),
  ...['viam.component.testecho.v1', 'proto.rpc.examples'].map((name) => ({ name, reason: ofPublicLibraries })),
  { name: 'viam.app.v1.AuthConfig.user_permissions', reason: 'access to a machine comes from roles' },
  {
    name: 'proto.rpc.webrtc.v1.AnswerRequestInitStage.caller_auth_entity',
    reason: 'our field 1000 says who calls, with what is needed to check it again',
  },
  {
    name: 'proto.rpc.webrtc.v1.AnswerRequestInitStage.caller_auth_metadata',
    reason: 'our field 1000 says who calls; claims of tokens are not passed on',
  },
  { name: 'viam.robot.v1.RobotService.GetStatus', reason: 'deprecated: GetMachineStatus' },
  { name: 'viam.robot.v1.RobotService.StreamStatus', reason: 'deprecated: GetMachineStatus' },
  { name: 'viam.robot.v1.RobotService.SendTraces', reason: 'traces of modules are not collected' },
  { name: 'viam.robot.v1.RobotService.UploadDataFromPath', reason: 'the data manager uploads files' },
];
