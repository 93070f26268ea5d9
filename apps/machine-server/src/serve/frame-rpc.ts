/** The frame system over RPC. */
import { invalidArgument } from '@platform/base';
import type { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Handlers } from '@platform/rpc/server';
import { world } from '../frames/frame-tree.ts';
import type { Frames } from '../frames/frames.ts';
import { kinematicModel } from '../frames/kinematic-model.ts';
import { transformPointCloud } from '../frames/point-cloud.ts';
import { compose, poseFields, rigidPose } from '../frames/pose.ts';
import type { Principal } from './authenticate.ts';

export function frameHandlers(frames: Frames): Handlers<typeof RobotService, Principal> {
  return {
    async frameSystemConfig({ supplementalTransforms }, call) {
      const listed = await frames.list(supplementalTransforms, call);
      return {
        frameSystemConfigs: listed.map(({ name, parent, pose, geometry, kinematics }) => ({
          frame: {
            referenceFrame: name,
            poseInObserverFrame: { referenceFrame: parent, pose },
            ...(geometry && { physicalObject: geometry }),
          },
          kinematics,
          ...(Object.keys(kinematics).length > 0 && { model: kinematicModel(kinematics, name) }),
        })),
      };
    },
    async getPose({ componentName, destinationFrame, supplementalTransforms }, call) {
      if (componentName === '') throw invalidArgument('component_name: expected the name of a component, found none');
      const pose = await frames.between(componentName, destinationFrame, supplementalTransforms, call);
      return { pose: { referenceFrame: destinationFrame || world, pose: poseFields(pose) } };
    },
    async transformPose({ source, destination, supplementalTransforms }, call) {
      if (source?.pose === undefined) throw invalidArgument('source: expected a pose in a frame, found none');
      const frame = await frames.between(source.referenceFrame, destination, supplementalTransforms, call);
      const pose = compose(frame, rigidPose(source.pose));
      return { pose: { referenceFrame: destination || world, pose: poseFields(pose) } };
    },
    async transformPCD({ pointCloudPcd, source, destination }, call) {
      const pose = await frames.between(source, destination, [], call);
      return { pointCloudPcd: transformPointCloud(pointCloudPcd, pose) };
    },
  };
}
