import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import weka.classifiers.bayes.AODE;
import weka.core.Attribute;
import weka.core.FastVector;
import weka.core.Instance;
import weka.core.Instances;

/**
 * Times Weka's AODE on a table of nominal attributes that stands in memory, and writes down its probabilities.
 *
 * <p>Arguments: a file of big-endian numbers (rows, columns, classes as int, then the number of values of each column as
 * int; then row by row the columns and the class as double, NaN where missing), the file to write the probabilities
 * of all rows to, how often to fit and predict, and the options of the classifier. Prints two numbers for each turn: the
 * milliseconds of the fit and of the prediction.
 */
public final class Averaging {
  private Averaging() {}

  public static void main(String[] arguments) throws Exception {
    Instances table = read(arguments[0]);
    double[][] found = new double[table.numInstances()][];
    for (int turn = Integer.parseInt(arguments[2]); turn > 0; turn--) {
      AODE model = new AODE();
      String[] options = new String[arguments.length - 3];
      System.arraycopy(arguments, 3, options, 0, options.length);
      model.setOptions(options);
      long start = System.nanoTime();
      model.buildClassifier(table);
      long fitted = System.nanoTime();
      for (int i = 0; i < found.length; i++) {
        found[i] = model.distributionForInstance(table.instance(i));
      }
      System.out.println((fitted - start) / 1e6 + " " + (System.nanoTime() - fitted) / 1e6);
    }
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(new FileOutputStream(arguments[1]), 1 << 20))) {
      for (double[] row : found) {
        for (double probability : row) {
          out.writeDouble(probability);
        }
      }
    }
  }

  private static Instances read(String path) throws IOException {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(path), 1 << 20))) {
      int rows = in.readInt();
      int columns = in.readInt();
      int classes = in.readInt();
      FastVector attributes = new FastVector();
      for (int j = 0; j < columns; j++) {
        attributes.addElement(new Attribute("x" + j, values(in.readInt())));
      }
      attributes.addElement(new Attribute("class", values(classes)));
      Instances table = new Instances("table", attributes, rows);
      table.setClassIndex(columns);
      for (int i = 0; i < rows; i++) {
        double[] cells = new double[columns + 1];
        for (int j = 0; j <= columns; j++) {
          cells[j] = in.readDouble(); // Weka's missing value is NaN
        }
        table.add(new Instance(1.0, cells));
      }
      return table;
    }
  }

  private static FastVector values(int number) {
    FastVector names = new FastVector();
    for (int i = 0; i < number; i++) {
      names.addElement("v" + i);
    }
    return names;
  }
}
