import Sandbox from './index.js';

export const { execute, check, exec, queue, audit, CordonError } = Sandbox;
export default Sandbox;
