//! Work in a CUDA graph that runs beside what a stream captures after it.

use crate::{Gpu, GpuError, library};
use cudarc::driver::sys::{
    self, CUgraph, CUgraphEdgeData, CUgraphNode, CUstream, CUstreamCaptureStatus,
    CUstreamUpdateCaptureDependencies_flags as Update,
};
use std::ptr;
use std::sync::LazyLock;

/// The first driver with graphs whose edges have data.
const MIN_DRIVER: i32 = 12_030;

/// Where a capture is: its graph, and the nodes for which the next one will wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    graph: usize,
    nodes: Vec<usize>,
    edges: Vec<CUgraphEdgeData>,
}

impl Place {
    /// Where the capture of a stream is; none if it captures nothing.
    pub fn of(gpu: &Gpu, stream: usize) -> Result<Option<Self>, GpuError> {
        static HAS_PLACES: LazyLock<bool> = LazyLock::new(|| library::driver_version() >= MIN_DRIVER);
        if !*HAS_PLACES {
            return Ok(None);
        }
        gpu.context.bind_to_thread()?;
        let (mut status, mut graph) = (CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, ptr::null_mut());
        let (mut nodes, mut edges, mut count) = (ptr::null(), ptr::null(), 0usize);
        // SAFETY: the stream is alive, and all outputs are written before they are read. The lists are copied before another
        // call for the stream.
        unsafe {
            sys::cuStreamGetCaptureInfo_v3(
                stream as CUstream,
                &raw mut status,
                ptr::null_mut(),
                &raw mut graph,
                &raw mut nodes,
                &raw mut edges,
                &raw mut count,
            )
            .result()?;
            if status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE {
                return Ok(None);
            }
            Ok(Some(Self {
                graph: graph as usize,
                nodes: listed(nodes, count).iter().map(|node| *node as usize).collect(),
                edges: listed(edges, count).to_vec(),
            }))
        }
    }

    /// Returns to this place: what the stream captures from now on does not wait for the work that it captured since.
    pub fn resume(&self, stream: usize) -> Result<(), GpuError> {
        self.update(stream, Update::CU_STREAM_SET_CAPTURE_DEPENDENCIES)
    }

    /// Lets what a stream captures from now on wait for the work before this place too, if that is in the same graph, and
    /// returns whether it is. The work of a graph that is launched before is done when this one begins; the body of a condition
    /// and a graph within a graph are other graphs too, and do not wait.
    pub fn wait(&self, gpu: &Gpu, stream: usize) -> Result<bool, GpuError> {
        let Some(now) = Self::of(gpu, stream)?.filter(|now| now.graph == self.graph) else { return Ok(false) };
        if !self.is_in_graph()? {
            return Ok(false);
        }
        let is_new = |k: &usize| !now.nodes.contains(&self.nodes[*k]);
        let new: Vec<usize> = (0..self.nodes.len()).filter(is_new).collect();
        let part = Self {
            graph: self.graph,
            nodes: new.iter().map(|&k| self.nodes[k]).collect(),
            edges: new.iter().filter_map(|&k| self.edges.get(k).copied()).collect(),
        };
        if !part.nodes.is_empty() {
            part.update(stream, Update::CU_STREAM_ADD_CAPTURE_DEPENDENCIES)?;
        }
        Ok(true)
    }

    fn update(&self, stream: usize, update: Update) -> Result<(), GpuError> {
        let mut nodes: Vec<CUgraphNode> = self.nodes.iter().map(|node| *node as CUgraphNode).collect();
        let edges = if self.edges.is_empty() { ptr::null() } else { self.edges.as_ptr() };
        // SAFETY: the nodes are of the graph that the stream captures.
        unsafe {
            sys::cuStreamUpdateCaptureDependencies_v2(
                stream as CUstream,
                nodes.as_mut_ptr(),
                edges,
                nodes.len(),
                update as u32,
            )
            .result()?;
        }
        Ok(())
    }

    /// True if the graph, which is being captured, has the nodes: another one may have got the address of a graph of before.
    fn is_in_graph(&self) -> Result<bool, GpuError> {
        let mut count = 0;
        // SAFETY: the graph is alive while it is captured; the list has room for all nodes.
        let all = unsafe {
            sys::cuGraphGetNodes(self.graph as CUgraph, ptr::null_mut(), &raw mut count).result()?;
            let mut all = vec![ptr::null_mut(); count];
            sys::cuGraphGetNodes(self.graph as CUgraph, all.as_mut_ptr(), &raw mut count).result()?;
            all
        };
        Ok(self.nodes.iter().all(|node| all.contains(&(*node as CUgraphNode))))
    }
}

/// A list of the driver, which is null if it is empty.
///
/// # Safety
/// Unless null, it has `count` elements.
unsafe fn listed<'a, T>(first: *const T, count: usize) -> &'a [T] {
    // SAFETY: the caller guarantees the list.
    if first.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(first, count) } }
}
