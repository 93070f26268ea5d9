/** The methods of a machine that pages may call over WebRTC, where messages are binary: their types must be known. */
import type { DescMethodUnary } from '@bufbuild/protobuf';
import { ArmService } from '@platform/proto/platform/component/arm/v1/arm';
import { AudioInService } from '@platform/proto/platform/component/audioin/v1/audioin';
import { AudioOutService } from '@platform/proto/platform/component/audioout/v1/audioout';
import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { ButtonService } from '@platform/proto/platform/component/button/v1/button';
import { CameraService } from '@platform/proto/platform/component/camera/v1/camera';
import { EncoderService } from '@platform/proto/platform/component/encoder/v1/encoder';
import { GantryService } from '@platform/proto/platform/component/gantry/v1/gantry';
import { GenericService as GenericComponentService } from '@platform/proto/platform/component/generic/v1/generic';
import { GripperService } from '@platform/proto/platform/component/gripper/v1/gripper';
import { InputControllerService } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { MovementSensorService } from '@platform/proto/platform/component/movementsensor/v1/movementsensor';
import { PowerSensorService } from '@platform/proto/platform/component/powersensor/v1/powersensor';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ServoService } from '@platform/proto/platform/component/servo/v1/servo';
import { SwitchService } from '@platform/proto/platform/component/switch/v1/switch';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { BaseRemoteControlService } from '@platform/proto/platform/service/baseremotecontrol/v1/base_remote_control';
import { DataManagerService } from '@platform/proto/platform/service/datamanager/v1/data_manager';
import { DiscoveryService } from '@platform/proto/platform/service/discovery/v1/discovery';
import { GenericService as GenericServiceService } from '@platform/proto/platform/service/generic/v1/generic';
import { MotionService } from '@platform/proto/platform/service/motion/v1/motion';
import { NavigationService } from '@platform/proto/platform/service/navigation/v1/navigation';
import { VisionService } from '@platform/proto/platform/service/vision/v1/vision';

const services = [
  ArmService,
  AudioInService,
  AudioOutService,
  BaseService,
  BoardService,
  ButtonService,
  CameraService,
  EncoderService,
  GantryService,
  GenericComponentService,
  GripperService,
  InputControllerService,
  MotorService,
  MovementSensorService,
  PowerSensorService,
  SensorService,
  ServoService,
  SwitchService,
  BaseRemoteControlService,
  DataManagerService,
  DiscoveryService,
  GenericServiceService,
  MotionService,
  NavigationService,
  VisionService,
  RobotService,
];

const known: ReadonlyMap<string, DescMethodUnary> = new Map(
  services.flatMap(({ typeName, methods }) =>
    methods.flatMap((method) =>
      method.methodKind === 'unary' ? [[`${typeName}/${method.name}`, method as DescMethodUnary] as const] : [],
    ),
  ),
);

/** @param path such as `platform.robot.v1.RobotService/GetVersion` @returns undefined if it is unknown, or a stream */
export function knownMethod(path: string): DescMethodUnary | undefined {
  return known.get(path);
}
