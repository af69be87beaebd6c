import { h } from '../dom.js';
import { clusterDesigner } from '../forms/cluster_designer.js';
import type { IComponent } from '../forms/component.js';
import {
  clusterPicture,
  type IClusterPictureProps
} from './cluster_picture.js';

/**
 * Ways to look at the same cluster.
 */
export type Look = 'picture' | 'form';

/**
 * A cluster that is changed by eye or by its exact fields.
 */
export interface IClusterEditorProps extends IClusterPictureProps {
  readonly look: Look;
}

/**
 * Make an editor of a cluster. One look is there at a time, so that nothing is said twice.
 */
export function clusterEditor(
  host: HTMLElement,
  props: IClusterEditorProps
): IComponent<IClusterEditorProps> {
  const element = h('div');
  host.append(element);
  let all = props;
  let shown = made(element, all);
  return {
    element,
    update(changed): void {
      const { look } = all;
      all = { ...all, ...changed };
      if (all.look === look) {
        shown.update(all);
      } else {
        shown.dispose();
        shown = made(element, all);
      }
    },
    dispose(): void {
      shown.dispose();
      element.remove();
    }
  };
}

function made(
  host: HTMLElement,
  props: IClusterEditorProps
): IComponent<IClusterPictureProps> {
  return props.look === 'picture'
    ? clusterPicture(host, props)
    : clusterDesigner(host, props);
}
